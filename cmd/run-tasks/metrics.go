package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects/template"
	"mlframework/sweep"
	"mlframework/sweep/api"
	metricfiles "mlframework/sweep/metricfile/tail"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// testMetrics is `run-tasks test-metrics NAME [SWEEP/INDEX | < FILE]`: which metrics would be picked from the output of an attempt.
func (c *command) testMetrics(ctx *cliv2.Context) error {
	name, of := ctx.Args().Get(0), ctx.Args().Get(1)
	switch {
	case ctx.NArg() > 2:
		return stray(ctx.Args().Get(2))
	case name == "":
		return cli.Wrong("run-tasks test-metrics NAME SWEEP/INDEX, or < FILE", "whose metrics?")
	}
	dir := ctx.String("d")
	var src source
	var t api.Task
	if of != "" {
		var s api.Sweep
		var err error
		if src, s, t, err = c.readingTask(ctx, of, "test-metrics "+name); err != nil {
			return err
		}
		defer src.close()
		if _, none := os.Stat(s.Project); none == nil && !ctx.IsSet("d") {
			dir = s.Project
		}
	}
	p, err := c.readProject(dir, name)
	if err != nil {
		return err
	}
	try, err := c.newTrial(p.record(""), ctx.Bool("json"))
	if err != nil {
		return err
	}
	if src == nil {
		err = try.scan("", func(w io.Writer) error { _, err := io.Copy(w, c.stdin); return err })
	} else {
		err = try.task(ctx.Context, src, &t.Row)
	}
	if err != nil {
		return err
	}
	try.tell()
	try.close()
	return nil
}

// trial is the metrics of a definition, tried on output that is there.
type trial struct {
	c      *command
	record sweep.Record
	rules  *result.Rules
	json   bool // every sample is printed as it is found
	series result.Series
	files  *metricfiles.Folder          // of a task; nil: none
	last   map[string][]result.Rejected // by stream: what matched last and is no number
	unread []string                     // what matched and is no number, in words
}

func (c *command) newTrial(r sweep.Record, json bool) (*trial, error) {
	rules, err := result.Compile(r.Recipe.Metrics)
	return &trial{c: c, record: r, rules: rules, json: json, series: result.Series{Rules: rules}}, err
}

// task looks at both streams of a task's newest attempt, as a sweep does: the one after the other, as nothing tells in which order
// their lines came.
func (t *trial) task(ctx context.Context, src source, row *result.Row) error {
	id, err := task.ParseID(row.ID)
	if err != nil {
		return err
	}
	err = t.scan("stdout", func(w io.Writer) error { return src.logs(ctx, printed{id: id, stdout: w}) })
	if err != nil {
		return err
	}
	if err := t.scan("stderr", func(w io.Writer) error { return src.logs(ctx, printed{id: id, stderr: w}) }); err != nil {
		return err
	}
	if src.folder(id.Sweep) == "" {
		return nil
	}
	end := task.Outcome{Class: task.Class(row.Class), ExitCode: row.ExitCode}
	return t.readFiles(ctx, taskFolder(id), end.Exited())
}

// readFiles looks at the files in a task's folder that metrics are read from. Values of secrets are not known here: where the tasks have
// some, nothing is quoted from files.
func (t *trial) readFiles(ctx context.Context, dir string, exited bool) error {
	var bad error
	var hide func(string) string
	if len(t.record.Recipe.Secrets) > 0 {
		hide = func(string) string { return "********" }
	}
	folder, err := metricfiles.Open(dir, t.record.Recipe.Metrics, hide, func(s result.Sample) {
		if t.json {
			bad = errors.Join(bad, encode(t.c.stdout, s))
		}
	})
	if folder == nil || err != nil {
		return err
	}
	folder.End(ctx, exited)
	t.files = folder
	for _, text := range folder.Problems() {
		t.unread = append(t.unread, cli.Visible(text))
	}
	return bad
}

// final is what a sweep takes for the values of the metrics.
func (t *trial) final() result.Final {
	all := t.series.Final()
	if t.files == nil {
		return all
	}
	for _, m := range t.files.Final() {
		all = append(slices.DeleteFunc(all, func(p result.Metric) bool { return p.Name == m.Name }), m)
	}
	return all
}

// count is how many values of a metric there are.
func (t *trial) count(metric string) int64 {
	if t.files != nil && t.files.Count(metric) > 0 {
		return t.files.Count(metric)
	}
	return t.series.Count(metric)
}

// scan looks at one stream, which has a name unless it is the only one.
func (t *trial) scan(stream string, read func(io.Writer) error) error {
	var bad error
	scanner := t.rules.NewScanner(time.Now, func(s result.Sample) {
		s.Stream = stream
		t.series.Add(s)
		if t.json {
			bad = errors.Join(bad, encode(t.c.stdout, s))
		}
	})
	if err := errors.Join(read(scanner), scanner.Close(), bad); err != nil {
		return err
	}
	of := ""
	if stream != "" {
		of = " of " + stream
	}
	if unread := scanner.Unread(); len(unread) > 0 {
		if t.last == nil {
			t.last = map[string][]result.Rejected{}
		}
		t.last[stream] = unread[:min(len(unread), task.MostUnread)]
	}
	for _, no := range scanner.Rejected() {
		t.unread = append(t.unread, fmt.Sprintf("%s: %s matched but is not a number, the first in line %d%s: %s",
			cli.Visible(no.Name), plural(no.Count, "line"), no.Line, of, cli.Visible(no.Text)))
	}
	return nil
}

// tell says what was picked, and what was not.
func (t *trial) tell() {
	if !t.json {
		t.table()
	}
	for _, line := range t.unread {
		fmt.Fprintln(t.c.stderr, line)
	}
	o := t.record.Objective
	if v, ok := t.final().Get(o.Metric); !o.IsZero() && (!ok || math.IsNaN(v)) {
		fmt.Fprintf(t.c.stderr, "WARNING: no number for the objective, %s\n", cli.Visible(o.Metric))
	}
}

// table prints the final value of every metric, and which of those that tasks.yml names were not found.
func (t *trial) table() {
	out := newTable("METRIC", "VALUE", "STEP", "TIMES", "FROM")
	from := map[string]string{}
	for _, r := range t.record.Recipe.Metrics {
		from[r.Name] = cmp.Or(r.Pattern, r.File, "JSON line")
		if t.count(r.Name) == 0 {
			out.add(r.Name, "-", "-", "0", from[r.Name])
		}
	}
	for _, m := range t.final() {
		step := "-"
		if m.Span != nil {
			step = strconv.FormatInt(m.Span.Step, 10)
		}
		source := cmp.Or(from[m.Name], "JSON line")
		out.add(m.Name, result.HumanNumber(m.Value), step, fmt.Sprint(t.count(m.Name)), source)
	}
	_ = out.write(t.c.stdout)
}

// init is `run-tasks init FOLDER`.
func (c *command) init(ctx *cliv2.Context) error {
	dir, err := argument(ctx)
	if err != nil {
		return err
	}
	if dir == "" {
		return cli.Wrong("run-tasks init FOLDER", "into which folder?")
	}
	written, err := template.Write(dir)
	if err != nil {
		return err
	}
	for _, name := range written {
		fmt.Fprintln(c.stdout, name)
	}
	fmt.Fprintf(c.stderr, "run it: run-tasks --local -d %s run_training\n", result.CommandLine([]string{dir}))
	return nil
}
