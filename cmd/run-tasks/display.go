package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	cliv2 "github.com/urfave/cli/v2"
	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// display shows a sweep while it runs.
type display interface {
	update(api.Update) error
	// notes is where messages go meanwhile.
	notes() io.Writer
	close()
}

// look is how a sweep is to be shown.
type look struct {
	quiet, json, output bool
	late                bool // it runs already: how it stands is told first, as who cannot see a bar may see nothing for long
}

// lookOf reads it from a command's options.
func lookOf(ctx *cliv2.Context) look {
	return look{quiet: ctx.Bool("quiet"), json: ctx.Bool("json"), output: !ctx.Bool("no-output")}
}

// detail is what has to be known of the sweep for it.
func (l look) detail() api.Detail {
	switch {
	case l.quiet:
		return api.DetailCounts
	case l.output && !l.json:
		return api.DetailOutput
	}
	return api.DetailTasks
}

// open chooses the display: nothing, JSON, a progress bar on a terminal, else plain lines.
func (l look) open(stdout, stderr *os.File) display {
	switch {
	case l.quiet:
		return silent{stderr}
	case l.json:
		return jsonLines{stdout, stderr}
	case term.IsTerminal(int(stdout.Fd())) && os.Getenv("TERM") != "dumb":
		return newBar(stdout)
	}
	return &plain{out: bufio.NewWriter(stdout), stderr: stderr}
}

// silent shows nothing: --quiet.
type silent struct{ stderr io.Writer }

func (silent) update(api.Update) error { return nil }
func (s silent) notes() io.Writer      { return s.stderr }
func (silent) close()                  {}

// jsonLines writes every task that ended: --json.
type jsonLines struct{ stdout, stderr io.Writer }

func (j jsonLines) update(u api.Update) error {
	var ended []table.Row
	for _, r := range u.Rows {
		if s, err := task.ParseState(r.State); err == nil && s.Terminal() {
			ended = append(ended, r)
		}
	}
	return table.WriteJSON(j.stdout, ended)
}

func (j jsonLines) notes() io.Writer { return j.stderr }
func (jsonLines) close()             {}

// plain writes lines without control characters: the output of tasks, and how each ended.
type plain struct {
	out    *bufio.Writer
	stderr io.Writer
}

func (p *plain) update(u api.Update) error {
	for _, l := range u.Lines {
		fmt.Fprintln(p.out, lineText(l))
	}
	for _, r := range u.Rows {
		if text := endText(r); text != "" {
			fmt.Fprintln(p.out, text)
		}
	}
	if u.Missed > 0 {
		fmt.Fprintf(p.out, "(%d lines not shown; the files have all of it)\n", u.Missed)
	}
	if u.Cut > 0 {
		fmt.Fprintf(p.out, "(%d changes of tasks not shown; `run-tasks results` has all of them)\n", u.Cut)
	}
	return p.out.Flush()
}

func (p *plain) notes() io.Writer { return p.stderr }
func (p *plain) close()           {}

// lineText is a line of output with its tag: task, host and slot, and "!" for standard error.
func lineText(l task.Line) string { return lineTag(l) + " " + lineBody(l) }

func lineTag(l task.Line) string {
	mark := "|"
	if l.Stderr {
		mark = "!"
	}
	return fmt.Sprintf("%s %s:%d %s", task.ID{Sweep: l.Sweep, Index: l.Index}, cli.Visible(l.Host), l.Slot, mark)
}

func lineBody(l task.Line) string {
	text := cli.Visible(strings.TrimRight(stripColours(l.Text), " "))
	if l.Missed > 0 {
		text += fmt.Sprintf("  (%d lines before this one not shown)", l.Missed)
	}
	return text
}

// endText says how a task ended, why it is tried again, or for whom it waits; "" while there is nothing to tell.
func endText(r table.Row) string {
	state, err := task.ParseState(r.State)
	if err != nil {
		return ""
	}
	took := ""
	if r.Duration != nil {
		took = " (" + human.Duration(*r.Duration) + ")"
	}
	switch {
	case state == task.Succeeded:
		text := r.ID + " succeeded" + took + metricsText(r.Metrics)
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

func metricsText(all metric.Final) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, " %s=%s", cli.Visible(m.Name), human.Number(m.Value))
	}
	return b.String()
}

// countsText is "12 of 24 done, 2 running, 1 failed".
func countsText(s core.Summary) string {
	done, failed := tally(s)
	text := fmt.Sprintf("%d of %d done", done, s.Total)
	if n := s.Counts["running"]; n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// tally counts the tasks that ended, and those of them that ended badly.
func tally(s core.Summary) (done, failed int64) {
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
