// Package display shows a sweep while it runs: a progress bar with a status line on a terminal,
// plain lines or JSON elsewhere; and the remarks of run-tasks.
//
// Only cmd/run-tasks imports it.
package display

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Display shows a sweep while it runs.
type Display interface {
	Update(api.Update) error
	// Notes is where messages go meanwhile.
	Notes() io.Writer
	Close()
}

// Options are how a sweep is shown.
type Options struct {
	Quiet, JSON, Output bool
	Verbose             bool // a terminal, too, shows the output of several tasks
	OneMachine          bool // all tasks run on this machine
	// it runs already: how it stands is told first, as who cannot see a bar may see nothing for
	// long
	Late bool
}

// Detail returns what has to be known of the sweep for it.
func (l Options) Detail() api.Detail {
	switch {
	case l.Quiet:
		return api.DetailCounts
	case l.Output && !l.JSON:
		return api.DetailOutput
	}
	return api.DetailTasks
}

// Open chooses the display: nothing, JSON, a progress bar on a terminal, else plain lines.
func (l Options) Open(stdout, stderr *os.File) Display {
	switch {
	case l.Quiet:
		return silent{stderr}
	case l.JSON:
		return jsonLines{stdout, stderr}
	case drawsBar(stdout):
		return newBar(stdout, l)
	}
	return &plain{out: bufio.NewWriter(stdout), stderr: stderr}
}

func drawsBar(stdout *os.File) bool {
	return term.IsTerminal(int(stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// LeavesOut reports whether the display of a sweep with a number of tasks leaves out their output
// though no option says so.
func (l Options) LeavesOut(stdout *os.File, tasks int64) bool {
	return l.Output && !l.Verbose && tasks > 1 && drawsBar(stdout)
}

// silent shows nothing: --quiet.
type silent struct{ stderr io.Writer }

func (silent) Update(api.Update) error { return nil }

func (s silent) Notes() io.Writer { return s.stderr }

func (silent) Close() {}

// jsonLines writes every task that ended: --json.
type jsonLines struct{ stdout, stderr io.Writer }

func (j jsonLines) Update(u api.Update) error {
	var ended []table.Row
	for _, r := range u.Rows {
		if s, err := task.ParseState(r.State); err == nil && s.Terminal() {
			ended = append(ended, r)
		}
	}
	return table.WriteJSON(j.stdout, ended)
}

func (j jsonLines) Notes() io.Writer { return j.stderr }

func (jsonLines) Close() {}

// plain writes lines without control characters: the output of tasks, and how each ended.
type plain struct {
	out    *bufio.Writer
	stderr io.Writer
	waits  bool // the sweep does, and that was told
	silent bool // a worker with tasks of it is silent, and that was printed
}

func (p *plain) Update(u api.Update) error {
	for _, l := range u.Lines {
		fmt.Fprintln(p.out, lineText(l))
	}
	for _, r := range u.Rows {
		if text := endText(r); text != "" {
			fmt.Fprintln(p.out, text)
		}
	}
	// what it waits for changes with every look at GPUs: only that it began is told
	if u.Sweep.Waits != nil && !p.waits {
		fmt.Fprintln(p.out, u.Sweep.ID+" "+cli.Visible(*u.Sweep.Waits))
	}
	p.waits = u.Sweep.Waits != nil
	if u.Sweep.Silent != nil && !p.silent {
		fmt.Fprintln(p.out, u.Sweep.ID+" "+cli.Visible(*u.Sweep.Silent))
	}
	p.silent = u.Sweep.Silent != nil
	if u.Missed > 0 {
		fmt.Fprintf(p.out, "(%d lines not shown; the files have all of it)\n", u.Missed)
	}
	if u.Cut > 0 {
		fmt.Fprintf(p.out, "(%d changes of tasks not shown; `run-tasks results` has all of them)\n",
			u.Cut)
	}
	return p.out.Flush()
}

func (p *plain) Notes() io.Writer { return p.stderr }

func (p *plain) Close() {}
