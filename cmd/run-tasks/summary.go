package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
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

// summarize prints how a sweep stands once it is idle, and returns the error that gives the exit
// code. Earlier are the sweeps with the results that --missing left out of it.
func summarize(ctx context.Context, t *terminal, src source, id string, l display.Options,
	earlier []string, interrupted bool) error {
	s, err := src.Sweep(ctx, id, true)
	if err != nil {
		return err
	}
	if !l.Quiet && !l.JSON {
		if err := (&sweepReport{t, src, s}).summary(ctx, earlier); err != nil {
			return err
		}
		if l.LeavesOut(t.stdout, s.Total) && s.Counts[task.Succeeded.String()] == s.Total {
			fmt.Fprintf(t.stdout, "output: %s logs %s\n", t.self, s.ID)
		}
	}
	t.warn(unkeptWarnings(s)...)
	warnMetrics(t, s)
	if s.State == core.Paused {
		fmt.Fprintln(t.stderr, pausedText(s.Summary, t.self))
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
	return text + "; to continue: " + resumeLine(s, self)
}

// resumeLine is the command that lets a paused sweep go on.
func resumeLine(s core.Summary, self string) string {
	text := self + " resume " + s.ID
	if s.Reason != nil && strings.HasPrefix(*s.Reason, core.FailedAlike) {
		text += " --keep-going"
	}
	return text
}

// summary prints counts, the best tasks, what failed, and where the files are.
func (p *sweepReport) summary(ctx context.Context, earlier []string) error {
	s := p.sweep
	fmt.Fprintf(p.stdout, "\n%s: %s\n", s.ID, outcomeText(s.Summary))
	if err := p.best(ctx); err != nil {
		return err
	}
	if err := p.failures(ctx); err != nil {
		return err
	}
	if s.Checks != nil && len(s.Checks.Revisions) > 1 {
		fmt.Fprintf(p.stdout, "\nattempts ran %d revisions of the project: compare them with the "+
			"column revision\n", len(s.Checks.Revisions))
	}
	if done, _ := display.Tally(s.Summary); done == 0 {
		return nil
	}
	files := "files: on the workers"
	if m, ok := p.src.(*remote); ok && m.cluster != nil {
		files = "files: " + p.self + " fetch " + s.ID
	}
	if folder := p.src.folder(s.ID); folder != "" {
		files = "files: " + folder + string(filepath.Separator)
	}
	fmt.Fprintf(p.stdout, "\n%s\nall results: %s results %s\n", files, p.self, s.ID)
	for _, line := range earlierResults(earlier, p.self) {
		fmt.Fprintln(p.stdout, line)
	}
	several := s.Counts[task.Succeeded.String()] > 1
	metrics := s.Record.Recipe.Metrics
	if several && len(metrics) > 0 && s.Record.Objective.IsZero() {
		objective := "maximize " + metrics[0].Name
		if strings.Contains(strings.ToLower(metrics[0].Name), "loss") {
			objective = "minimize " + metrics[0].Name
		}
		if s.Record.CommandLine {
			fmt.Fprintf(p.stdout, "to rank them: %s results %s\n", p.self,
				human.CommandLine([]string{"--objective", objective, s.ID}))
		} else {
			fmt.Fprintf(p.stdout, "to rank them: add `objective: %s` to %s in tasks.yml, then %s "+
				"results --reread %s\n", objective, s.Definition, p.self, s.ID)
		}
	}
	if s.Record.CommandLine && len(s.Record.Recipe.Metrics) == 0 && several {
		fmt.Fprintf(p.stdout, "to rank by a value that tasks print:\n    %s\n",
			rereadExample(p.self, s.ID))
	}
	return nil
}

// earlierResults say where the combinations are that --missing left out of a sweep.
func earlierResults(sweeps []string, self string) (lines []string) {
	for i, id := range sweeps {
		if i == earlierShown {
			return append(lines, fmt.Sprintf("and of %d older sweeps", len(sweeps)-i))
		}
		lines = append(lines, fmt.Sprintf("earlier results: %s results %s", self, id))
	}
	return lines
}

// outcomeText is "24 tasks: 23 succeeded, 1 failed, in 38.2s".
func outcomeText(s core.Summary) string {
	var parts []string
	for _, state := range task.States {
		if n := s.Counts[state.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := human.Plural(s.Total, "task") + ": " + strings.Join(parts, ", ")
	if s.Ended != nil {
		text += ", in " + tookText(s)
	}
	return text
}

// tookText is how long a sweep that has ended ran: "38.2s". Where it waited or was paused for
// longer than a tenth of that it is "38.2s (25m08s elapsed)".
func tookText(s core.Summary) string {
	ran, whole := s.RanFor(), s.Ended.Sub(s.Submitted)
	text := human.Duration(ran.Seconds())
	if whole-ran <= max(time.Second, ran/10) {
		return text
	}
	return text + " (" + human.Duration(whole.Seconds()) + " elapsed)"
}
