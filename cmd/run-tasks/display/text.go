package display

import (
	"fmt"
	"regexp"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// colour matches the escape sequences that set colours and styles (ECMA-48, SGR).
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// stripColours removes colours from output: they would spill into the lines of other tasks.
func stripColours(s string) string { return colour.ReplaceAllString(s, "") }

// lineText returns a line of output after its tag: task, host and slot, and the mark of its stream.
func lineText(l task.Line) string { return lineTag(l) + " " + lineBody(l) }

func lineTag(l task.Line) string {
	return fmt.Sprintf("%s %s:%d %s", task.ID{Sweep: l.Sweep, Index: l.Index}, cli.Visible(l.Host),
		l.Slot, lineMark(l))
}

// lineMark is "|", or "!" for standard error.
func lineMark(l task.Line) string {
	if l.Stderr {
		return "!"
	}
	return "|"
}

func lineBody(l task.Line) string {
	text := cli.Visible(strings.TrimRight(stripColours(l.Text), " "))
	if l.Missed > 0 {
		text += fmt.Sprintf("  (%d lines before this one not shown)", l.Missed)
	}
	return text
}

// endText returns how a task ended, why it will run again, or what it waits for; "" if there is
// nothing to report.
func endText(r table.Row) string {
	state, err := task.ParseState(r.State)
	if err != nil {
		return ""
	}
	took := ""
	if r.Duration != nil && *r.Duration > 0 { // it is 0 for an attempt that was lost
		took = " (" + human.Duration(*r.Duration) + ")"
	}
	switch {
	case state == task.Succeeded:
		text := r.ID + " succeeded" + took + MetricsText(r.Metrics)
		if r.Reason != "" {
			text += "; " + cli.Visible(r.Reason)
		}
		return text
	case state.Terminal() && r.Reason != "":
		return r.ID + " " + r.State + ": " + cli.Visible(r.Reason) + took
	case state.Terminal():
		return r.ID + " " + r.State
	case state == task.Pending && r.Reason != "" && r.Attempts > 0:
		return r.ID + " will run again: " + cli.Visible(r.Reason) + took
	case state == task.Pending && r.Reason != "":
		return r.ID + " " + cli.Visible(r.Reason)
	}
	return ""
}

// MetricsText returns " NAME=VALUE" for each metric.
func MetricsText(all metric.Final) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, " %s=%s", cli.Visible(m.Name), human.Number(m.Value))
	}
	return b.String()
}

// CountsText returns counts such as "12 of 24 done, 2 running, 1 failed, 3 cancelled".
func CountsText(s core.Summary) string {
	done, failed := Tally(s)
	text := fmt.Sprintf("%d of %d done", done, s.Total)
	if n := s.Counts["running"]; n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if n := s.Counts[task.Cancelled.String()]; n > 0 {
		text += fmt.Sprintf(", %d cancelled", n)
	}
	return text
}

// Tally returns how many tasks ended, and how many of these failed.
func Tally(s core.Summary) (done, failed int64) {
	for _, state := range task.States {
		if n := s.Counts[state.String()]; state.Terminal() {
			done += n
			if state.Failure() {
				failed += n
			}
		}
	}
	return done, failed
}
