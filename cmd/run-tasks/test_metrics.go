package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	metricfiles "mlframework/sweep/metric/tail"
	"mlframework/sweep/space"
)

func testMetricsCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "test-metrics", ArgsUsage: "NAME [SWEEP/INDEX | < FILE]",
		Usage:  "try metric patterns on the output of a task",
		Action: testMetricsAction(c), Flags: append(locationFlags(), flagJSON()),
		Description: `Shows the metrics that the patterns in the current tasks.yml extract. For a
task, the patterns search standard output and standard error of the attempts
that count toward its results.

EXAMPLES:
   run-tasks test-metrics run_training run_training-1/7
   # try the patterns on any text
   run-tasks test-metrics run_training < train.log`}
}

// testMetricsAction makes the action of `run-tasks test-metrics`, which needs no sweeps where it
// reads standard input.
func testMetricsAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		o, err := readTestMetricsOptions(ctx)
		if err != nil {
			return err
		}
		if o.task == "" {
			return o.run(ctx.Context, nil, &c.terminal)
		}
		src, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer src.close()
		return o.run(ctx.Context, src, &c.terminal)
	}
}

// testMetricsOptions are the options of `run-tasks test-metrics`.
type testMetricsOptions struct {
	definition string
	task       string // "": standard input is searched
	dir        string // of the project
	given      bool   // the project is named
	json       bool
}

func readTestMetricsOptions(ctx *cliv2.Context) (o testMetricsOptions, err error) {
	o = testMetricsOptions{definition: ctx.Args().Get(0), task: ctx.Args().Get(1),
		dir: projectFolder(ctx), given: ctx.IsSet("d"), json: ctx.Bool("json")}
	switch {
	case ctx.NArg() > 2:
		return o, stray(ctx.Args().Get(2))
	case o.definition == "":
		return o, cli.Wrong("run-tasks test-metrics NAME SWEEP/INDEX, or < FILE",
			"missing argument: NAME")
	}
	return o, nil
}

// run prints which metrics would be picked from the output of a task, or without a source from
// standard input.
func (o testMetricsOptions) run(ctx context.Context, src source, t *terminal) error {
	var of api.Task
	if src != nil {
		var s api.Sweep
		var err error
		if s, of, err = findTask(ctx, t, src, o.task, "test-metrics "+o.definition); err != nil {
			return err
		}
		if !o.given && exists(s.Project) {
			o.dir = s.Project
		}
	}
	p, err := project.Read(o.dir, o.definition, space.Change{})
	if err != nil {
		return err
	}
	try, err := newMetricTest(t, p.Record(""), o.json)
	if err != nil {
		return err
	}
	defer try.close()
	if src == nil {
		err = try.scan("", func(w io.Writer) error { _, err := io.Copy(w, t.stdin); return err })
	} else {
		err = try.task(ctx, src, of)
	}
	if err == nil {
		try.print()
	}
	return err
}

// metricTest is the metrics of a definition, tried on output that is there.
type metricTest struct {
	*terminal
	record core.Record
	rules  *metric.Rules
	json   bool // every sample is printed as it is found
	series metric.Series
	files  *metricfiles.Folder // of a task; nil: none
	unread []string            // what matched and is no number, in words
}

func newMetricTest(t *terminal, r core.Record, json bool) (*metricTest, error) {
	rules, err := metric.Compile(r.Recipe.Metrics)
	return &metricTest{terminal: t, record: r, rules: rules, json: json,
		series: metric.Series{Rules: rules}}, err
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
		fmt.Fprintln(t.stderr, line)
	}
	o := t.record.Objective
	if v, ok := t.final().Get(o.Metric); !o.IsZero() && (!ok || math.IsNaN(v)) {
		t.warn("no number for the objective, " + o.Metric)
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
	_ = out.Write(t.stdout)
}
