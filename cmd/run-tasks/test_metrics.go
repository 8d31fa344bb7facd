package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	metricfiles "mlframework/sweep/metric/tail"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
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
		if src, s, t, err = c.openTask(ctx, of, "test-metrics "+name); err != nil {
			return err
		}
		defer src.close()
		if _, none := os.Stat(s.Project); none == nil && !ctx.IsSet("d") {
			dir = s.Project
		}
	}
	p, err := c.readProject(dir, name, space.Change{})
	if err != nil {
		return err
	}
	try, err := c.newMetricTest(p.record(""), ctx.Bool("json"))
	if err != nil {
		return err
	}
	if src == nil {
		err = try.scan("", func(w io.Writer) error { _, err := io.Copy(w, c.stdin); return err })
	} else {
		err = try.task(ctx.Context, src, t)
	}
	if err != nil {
		return err
	}
	try.print()
	try.close()
	return nil
}

// metricTest is the metrics of a definition, tried on output that is there.
type metricTest struct {
	c      *command
	record core.Record
	rules  *metric.Rules
	json   bool // every sample is printed as it is found
	series metric.Series
	files  *metricfiles.Folder // of a task; nil: none
	unread []string            // what matched and is no number, in words
}

func (c *command) newMetricTest(r core.Record, json bool) (*metricTest, error) {
	rules, err := metric.Compile(r.Recipe.Metrics)
	return &metricTest{c: c, record: r, rules: rules, json: json, series: metric.Series{Rules: rules}},
		err
}

// task looks at both streams of each attempt that ran in the newest one's folder, as a sweep does: the one after the other, as
// nothing tells in which order their lines came.
func (t *metricTest) task(ctx context.Context, src source, of api.Task) error {
	id, err := task.ParseID(of.Row.ID)
	if err != nil {
		return err
	}
	var missing []string
	earlier := earlierAttempts(of.Attempts)
	for _, n := range append(earlier, 0) {
		t.unread = nil // what an earlier attempt printed last is not what the results warn of
		if err := t.attempt(ctx, src, id, n); n > 0 && hasNoOutput(err) {
			missing = append(missing, fmt.Sprintf("WARNING: attempt %d was not read: %v", n, err))
		} else if err != nil {
			return err
		}
	}
	read := len(earlier) - len(missing) + 1
	if t.unread = append(missing, t.unread...); read > 1 {
		t.unread = append(t.unread, fmt.Sprintf("%s of %s were searched, as for its results: the newest went on in the folder of the others",
			plural(int64(read), "attempt"), id))
	}
	if src.folder(id.Sweep) == "" {
		return nil
	}
	end := task.Outcome{Class: task.Class(of.Row.Class), ExitCode: of.Row.ExitCode}
	return t.readFiles(ctx, taskFolder(id), end.Exited())
}

// attempt looks at both streams of an attempt; 0 is the newest.
func (t *metricTest) attempt(ctx context.Context, src source, id task.ID, n int) error {
	dir := taskFolder(id)
	if n > 0 && src.folder(id.Sweep) != "" && worker.LogFile(dir, "stdout", n) == worker.LogFile(dir, "stdout", 0) {
		return cli.Wrong("", "what it printed is not in %s any more", dir)
	}
	err := t.scan("stdout", func(w io.Writer) error { return src.logs(ctx, outputQuery{id: id, attempt: n, stdout: w}) })
	if err != nil {
		return err
	}
	return t.scan("stderr", func(w io.Writer) error { return src.logs(ctx, outputQuery{id: id, attempt: n, stderr: w}) })
}

// hasNoOutput reports whether the output of an attempt is not there.
func hasNoOutput(err error) bool {
	here, _ := errors.AsType[*cli.Error](err)
	there, _ := errors.AsType[*api.Error](err)
	return here != nil && here.Code == cli.Usage || there != nil && there.Status == http.StatusNotFound
}

// earlierAttempts are the numbers of those that ran in the folder in which the newest one went on, the oldest first.
func earlierAttempts(all []api.Attempt) (numbers []int) {
	all = slices.DeleteFunc(slices.Clone(all), func(a api.Attempt) bool { return a.Host == nil })
	if len(all) == 0 {
		return nil
	}
	newest := all[len(all)-1]
	resumed := newest.Resumed
	for _, a := range slices.Backward(all) {
		if !resumed {
			break
		}
		if a.Worker == newest.Worker && a.Attempt != newest.Attempt && !slices.Contains(numbers, a.Attempt) {
			numbers, resumed = append(numbers, a.Attempt), a.Resumed
		}
	}
	slices.Reverse(numbers)
	return numbers
}

// readFiles looks at the files in a task's folder that metrics are read from. Values of secrets are not known here: where the tasks have
// some, nothing is quoted from files.
func (t *metricTest) readFiles(ctx context.Context, dir string, exited bool) error {
	var bad error
	var hide func(string) string
	if len(t.record.Recipe.Secrets) > 0 {
		hide = func(string) string { return "********" }
	}
	folder, err := metricfiles.Open(dir, t.record.Recipe.Metrics, hide, func(s metric.Sample) {
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

// close ends the reading of files.
func (t *metricTest) close() {
	if t.files != nil {
		_ = t.files.Close() // it was only read
	}
}

// final is what a sweep takes for the values of the metrics.
func (t *metricTest) final() metric.Final {
	all := t.series.Final()
	if t.files == nil {
		return all
	}
	for _, m := range t.files.Final() {
		all = append(slices.DeleteFunc(all,
			func(p metric.FinalValue) bool { return p.Name == m.Name }), m)
	}
	return all
}

// count is how many values of a metric there are.
func (t *metricTest) count(metric string) int64 {
	if t.files != nil && t.files.Count(metric) > 0 {
		return t.files.Count(metric)
	}
	return t.series.Count(metric)
}

// scan looks at one stream, which has a name unless it is the only one.
func (t *metricTest) scan(stream string, read func(io.Writer) error) error {
	var bad error
	scanner := t.rules.NewScanner(time.Now, func(s metric.Sample) {
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
	for _, no := range scanner.Rejected() {
		t.unread = append(t.unread, fmt.Sprintf("%s: %s matched but is not a number, the first in line %d%s: %s",
			cli.Visible(no.Name), plural(no.Count, "line"), no.Line, of, cli.Visible(no.Text)))
	}
	return nil
}

// print says what was picked, and what was not.
func (t *metricTest) print() {
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
func (t *metricTest) table() {
	out := display.NewTable("METRIC", "VALUE", "STEP", "TIMES", "FROM")
	from := map[string]string{}
	for _, r := range t.record.Recipe.Metrics {
		from[r.Name] = cmp.Or(r.Pattern, r.File, "JSON line")
		if t.count(r.Name) == 0 {
			out.Add(r.Name, "-", "-", "0", from[r.Name])
		}
	}
	for _, m := range t.final() {
		step := "-"
		if m.Span != nil {
			step = strings.TrimPrefix(m.Span.String(), "step ")
		}
		source := cmp.Or(from[m.Name], "JSON line")
		out.Add(m.Name, human.Number(m.Value), step, fmt.Sprint(t.count(m.Name)), source)
	}
	_ = out.Write(t.c.stdout)
}
