package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// failures says what failed in a sweep and what to type, failures that are alike together.
func (c *command) failures(ctx context.Context, src source, s api.Sweep) error {
	if _, failed := display.Tally(s.Summary); failed == 0 {
		return nil
	}
	f, err := src.Failures(ctx, s.ID)
	if err != nil || len(f.Groups) == 0 {
		return err
	}
	fmt.Fprintln(c.stdout)
	shown := f.Groups[:min(failedShown, len(f.Groups))]
	for _, g := range shown {
		fmt.Fprintln(c.stdout, groupText(g))
		if len(shown) > 1 {
			fmt.Fprintln(c.stdout, "    "+c.logsOf(g))
		}
	}
	rest := f.Others
	for _, g := range f.Groups[len(shown):] {
		rest += g.Count
	}
	if rest > 0 {
		fmt.Fprintf(c.stdout, "... and %s with other failures: %s results --failures %s\n",
			plural(rest, "task"), c.self, s.ID)
	}
	if len(shown) == 1 {
		fmt.Fprintln(c.stdout, "output: "+c.logsOf(shown[0]))
	}
	fmt.Fprintf(c.stdout, "retry: %s retry %s\n", c.self, s.ID)
	if slices.ContainsFunc(f.Groups, func(g api.FailureGroup) bool {
		return g.Class == task.Error
	}) {
		fmt.Fprintf(c.stdout, "retry with edited files: %s retry --updated %s\n", c.self, s.ID)
	}
	return nil
}

// groupText is "412 x error: exit code 1: CUDA out of memory (first: run-3/17 on gpu2)".
func groupText(g api.FailureGroup) string {
	first := ""
	if g.Count > 1 {
		first = "first: "
	}
	text := fmt.Sprintf("%d x %s", g.Count, g.Class)
	if g.Reason != "" {
		text += ": " + g.Reason
	}
	text += " (" + first + g.Task
	if g.Host != nil {
		text += " on " + *g.Host
	}
	return cli.Visible(text + ")")
}

// logsOf is the command that shows what the first task of a group printed.
func (c *command) logsOf(g api.FailureGroup) string { return c.self + " logs " + g.Task }

// failureLine is a group of failures as --json has it; what is in none of them has a count alone.
type failureLine struct {
	Count  int64   `json:"count"`
	Class  *string `json:"class"`
	Reason *string `json:"reason"`
	Task   *string `json:"task"` // the first
	Host   *string `json:"host"`
	Logs   *string `json:"logs"` // the command that shows what it printed
}

// resultsFailures is `run-tasks results --failures`.
func (c *command) resultsFailures(ctx *cliv2.Context, id string) error {
	for _, name := range []string{"where", "sort", "top"} {
		if ctx.IsSet(name) {
			return cli.Wrong("", "--failures and --%s are mutually exclusive", name)
		}
	}
	text := !ctx.Bool("csv") && !ctx.Bool("json")
	src, s, err := c.openSweep(ctx, id, text)
	if err != nil {
		return err
	}
	defer src.close()
	f, err := src.Failures(ctx.Context, s.ID)
	if err != nil {
		return err
	}
	switch {
	case ctx.Bool("csv"):
		return c.failuresCSV(f)
	case ctx.Bool("json"):
		return c.failuresJSON(f)
	case len(f.Groups) == 0:
		fmt.Fprintln(c.stdout, "no task failed")
		return nil
	}
	for _, g := range f.Groups {
		fmt.Fprintf(c.stdout, "%s\n    %s\n", groupText(g), c.logsOf(g))
	}
	if f.Others > 0 {
		fmt.Fprintf(c.stdout, "... and %s with other failures\n", plural(f.Others, "task"))
	}
	return nil
}

func (c *command) failuresJSON(f api.Failures) error {
	for _, l := range c.failureLines(f) {
		if err := encode(c.stdout, l); err != nil {
			return err
		}
	}
	return nil
}

// failureLines are failures as --json has them.
func (c *command) failureLines(f api.Failures) []failureLine {
	all := []failureLine{}
	for _, g := range f.Groups {
		class, logs := string(g.Class), c.logsOf(g)
		all = append(all, failureLine{g.Count, &class, &g.Reason, &g.Task, g.Host, &logs})
	}
	if f.Others > 0 {
		all = append(all, failureLine{Count: f.Others})
	}
	return all
}

func (c *command) failuresCSV(f api.Failures) error {
	out := csv.NewWriter(c.stdout)
	lines := [][]string{{"count", "class", "reason", "task", "host", "logs"}}
	for _, g := range f.Groups {
		host := ""
		if g.Host != nil {
			host = *g.Host
		}
		lines = append(lines, []string{strconv.FormatInt(g.Count, 10), string(g.Class),
			table.CSVText(g.Reason), g.Task, table.CSVText(host), c.logsOf(g)})
	}
	if f.Others > 0 {
		lines = append(lines, []string{strconv.FormatInt(f.Others, 10), "", "", "", "", ""})
	}
	return out.WriteAll(lines)
}
