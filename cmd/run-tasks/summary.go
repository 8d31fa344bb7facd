package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// How much the end of a sweep shows; `results` and `show` have all of it.
const (
	bestShown = 10
	// of groups of failures, and of tasks for which it is explained what they lacked
	failedShown = 5
	// of earlier sweeps with results
	earlierShown = 3
)

// summarize says how a sweep stands once it is idle, and returns the error that gives the exit
// code.
func (c *command) summarize(ctx context.Context, src source, id string, l display.Options,
	interrupted bool) error {
	s, err := src.Sweep(ctx, id, true)
	if err != nil {
		return err
	}
	if !l.Quiet && !l.JSON {
		if err := c.report(ctx, src, s); err != nil {
			return err
		}
	}
	c.warnUnkept(s)
	c.warnUnranked(s)
	if s.State == core.Paused {
		fmt.Fprintln(c.stderr, pausedText(s.Summary, c.self))
	}
	switch {
	case interrupted && s.State != core.Finished:
		return cli.Code(cli.Interrupted)
	case s.Counts[task.Succeeded.String()] < s.Total:
		return cli.Code(cli.Failed)
	}
	return nil
}

// pausedText says that a sweep is paused, and how it goes on.
func pausedText(s core.Summary, self string) string {
	text := s.ID + " is paused"
	if s.Reason != nil {
		text += " (" + cli.Visible(*s.Reason) + ")"
	}
	return text + "; to continue: " + resumeCommand(s, self)
}

// resumeCommand is the command that lets a paused sweep go on.
func resumeCommand(s core.Summary, self string) string {
	text := self + " resume " + s.ID
	if s.Reason != nil && strings.HasPrefix(*s.Reason, core.FailedAlike) {
		text += " --keep-going"
	}
	return text
}

// report prints counts, the best tasks, what failed, and where the files are.
func (c *command) report(ctx context.Context, src source, s api.Sweep) error {
	fmt.Fprintf(c.stdout, "\n%s: %s\n", s.ID, outcomeText(s.Summary))
	if err := c.best(ctx, src, s); err != nil {
		return err
	}
	if err := c.failures(ctx, src, s); err != nil {
		return err
	}
	if s.Checks != nil && len(s.Checks.Revisions) > 1 {
		fmt.Fprintf(c.stdout, "\nattempts ran %d revisions of the project: compare them with the "+
			"column revision\n", len(s.Checks.Revisions))
	}
	if done, _ := display.Tally(s.Summary); done > 0 {
		files := "files: on the workers"
		if m, ok := src.(*remote); ok && m.cluster != nil {
			files = "files: " + c.self + " fetch " + s.ID
		}
		if folder := src.folder(s.ID); folder != "" {
			files = "files: " + folder + string(filepath.Separator)
		}
		fmt.Fprintf(c.stdout, "\n%s\nall results: %s results %s\n", files, c.self, s.ID)
		c.earlierResults()
		if s.Record.CommandLine && len(s.Record.Recipe.Metrics) == 0 &&
			s.Counts[task.Succeeded.String()] > 1 {
			fmt.Fprintf(c.stdout, "to rank by a value that tasks print:\n    %s\n",
				rereadExample(c.self, s.ID))
		}
	}
	return nil
}

// earlierResults says where the combinations are that --missing left out of a sweep.
func (c *command) earlierResults() {
	for i, id := range c.succeeded {
		if i == earlierShown {
			fmt.Fprintf(c.stdout, "and of %d older sweeps\n", len(c.succeeded)-i)
			return
		}
		fmt.Fprintf(c.stdout, "earlier results: %s results %s\n", c.self, id)
	}
}

// outcomeText is "24 tasks: 23 succeeded, 1 failed, in 38.2s".
func outcomeText(s core.Summary) string {
	var parts []string
	for _, state := range task.States {
		if n := s.Counts[state.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := plural(s.Total, "task") + ": " + strings.Join(parts, ", ")
	if s.Ended != nil {
		text += ", in " + tookText(s)
	}
	return text
}

// ranFor is how long a sweep that has ended ran, without the time in which it waited or was paused.
func ranFor(s core.Summary) time.Duration {
	if s.Ran == 0 { // it is of before that was counted
		return s.Ended.Sub(s.Submitted)
	}
	return time.Duration(s.Ran * float64(time.Second))
}

// tookText is how long a sweep that has ended ran: "38.2s". Where it waited or was paused for
// longer than a tenth of that it is "38.2s (25m08s elapsed)".
func tookText(s core.Summary) string {
	ran, whole := ranFor(s), s.Ended.Sub(s.Submitted)
	text := human.Duration(ran.Seconds())
	if whole-ran <= max(time.Second, ran/10) {
		return text
	}
	return text + " (" + human.Duration(whole.Seconds()) + " elapsed)"
}

func (c *command) best(ctx context.Context, src source, s api.Sweep) error {
	if shown, err := c.bestGroups(ctx, src, s); shown || err != nil {
		return err
	}
	o := s.Record.Objective
	rows, err := bestRows(ctx, src, s, bestShown)
	if err != nil || len(rows) == 0 {
		return err
	}
	title := fmt.Sprintf("best by %s (%s)", o.Metric, o)
	if s.Counts[task.Succeeded.String()] > int64(len(rows)) {
		title = fmt.Sprintf("best %d by %s (%s)", len(rows), o.Metric, o)
	}
	fmt.Fprintln(c.stdout, "\n"+cli.Visible(title))
	return table.WriteText(c.stdout, rows, tableOptions(c.stdout, s))
}

// bestRows are the first tasks of the ranking so far.
func bestRows(ctx context.Context, src source, s api.Sweep, most int) (rows []table.Row,
	err error) {
	o := s.Record.Objective
	if o.IsZero() {
		return nil, nil
	}
	err = src.Rows(ctx, s.ID, api.Query{Best: true, Issued: true, Top: most},
		func(r *table.Row) error {
			if table.IsRanked(o, r) {
				rows = append(rows, *r)
			}
			return nil
		})
	return rows, err
}

// tableOptions fit a table of a sweep's results to where it goes.
func tableOptions(w io.Writer, s api.Sweep) table.TableOptions {
	return table.TableOptions{Width: display.Width(w), Objective: s.Record.Objective,
		Schema: s.Record.Schema(), Location: timeZone()}
}
