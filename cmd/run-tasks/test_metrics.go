package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	metricfiles "mlframework/sweep/metric/tail"
	"mlframework/sweep/space"
)

// testMetrics is `run-tasks test-metrics NAME [SWEEP/INDEX | < FILE]`: which metrics would be
// picked from the output of an attempt.
func (c *command) testMetrics(ctx *cliv2.Context) error {
	name, of := ctx.Args().Get(0), ctx.Args().Get(1)
	switch {
	case ctx.NArg() > 2:
		return stray(ctx.Args().Get(2))
	case name == "":
		return cli.Wrong("run-tasks test-metrics NAME SWEEP/INDEX, or < FILE",
			"missing argument: NAME")
	}
	dir := projectFolder(ctx)
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
	return &metricTest{c: c, record: r, rules: rules, json: json,
			series: metric.Series{Rules: rules}},
		err
}

// close ends the reading of files.
func (t *metricTest) close() {
	if t.files != nil {
		_ = t.files.Close() // it was only read
	}
}

// final is what a sweep takes for the values of the metrics.
func (t *metricTest) final() metric.Final {
	var files metric.Final
	if t.files != nil {
		files = t.files.Final()
	}
	return metric.JoinFiles(t.series.Final(), files, t.record.Recipe.Metrics)
}

// count is how many values of a metric there are.
func (t *metricTest) count(metric string) int64 {
	if _, ok := t.final().Get(metric); !ok {
		return 0
	}
	if t.files != nil && t.files.Count(metric) > 0 {
		return t.files.Count(metric)
	}
	return t.series.Count(metric)
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

// table prints the final value of every metric, and which of those that tasks.yml names were not
// found.
func (t *metricTest) table() {
	out := cli.NewTable("METRIC", "VALUE", "STEP", "TIMES", "FROM")
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
