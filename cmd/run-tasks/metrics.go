package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects/template"
	"mlframework/sweep/result"
)

// testMetrics is `run-tasks test-metrics NAME < FILE`: which metrics would be picked from the output of an attempt.
func (c *command) testMetrics(ctx *cliv2.Context) error {
	name, err := argument(ctx)
	if err != nil {
		return err
	}
	if name == "" {
		return cli.Wrong("run-tasks test-metrics NAME < outputs/SWEEP/INDEX/stdout.log", "whose metrics?")
	}
	p, err := c.readProject(ctx.String("d"), name)
	if err != nil {
		return err
	}
	r := p.record("")
	rules, err := result.Compile(r.Recipe.Metrics)
	if err != nil {
		return err
	}
	var series result.Series
	var bad error
	scanner := rules.NewScanner(time.Now, func(s result.Sample) {
		series.Add(s)
		if ctx.Bool("json") {
			bad = errors.Join(bad, encode(c.stdout, s))
		}
	})
	if _, err := io.Copy(scanner, c.stdin); err != nil {
		return err
	}
	if err := errors.Join(scanner.Close(), bad); err != nil {
		return err
	}
	if !ctx.Bool("json") {
		c.tellMetrics(r.Recipe.Metrics, &series)
	}
	for _, no := range scanner.Rejected() {
		fmt.Fprintf(c.stderr, "%s: %s matched but is not a number, the first in line %d: %s\n", cli.Visible(no.Name), plural(no.Count, "line"), no.Line, cli.Visible(no.Text))
	}
	if v, ok := series.Final().Get(r.Objective.Metric); !r.Objective.IsZero() && (!ok || math.IsNaN(v)) {
		fmt.Fprintf(c.stderr, "WARNING: no number for the objective, %s\n", cli.Visible(r.Objective.Metric))
	}
	return nil
}

// tellMetrics prints the final value of every metric, and which of those that tasks.yml names were not found.
func (c *command) tellMetrics(rules []result.Rule, series *result.Series) {
	t := newTable("METRIC", "VALUE", "TIMES", "FROM")
	from := map[string]string{}
	for _, r := range rules {
		from[r.Name] = r.Pattern
		if series.Count(r.Name) == 0 {
			t.add(r.Name, "-", "0", r.Pattern)
		}
	}
	for _, m := range series.Final() {
		source := "JSON line"
		if from[m.Name] != "" {
			source = from[m.Name]
		}
		t.add(m.Name, result.HumanNumber(m.Value), fmt.Sprint(series.Count(m.Name)), source)
	}
	_ = t.write(c.stdout)
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
