package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func (c *command) listJSON(sweeps []store.Sweep) error {
	for _, s := range sweeps {
		if err := encode(c.stdout, s.Record.Summary(s.Head)); err != nil {
			return err
		}
	}
	return nil
}

func encode(w io.Writer, v any) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines.Encode(v)
}

// show is `run-tasks show`: a sweep, or a task with its attempts.
func (c *command) show(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	t, err := parseTarget(arg)
	if err != nil {
		return err
	}
	reader, s, err := reading(ctx.Context, t.sweep)
	if err != nil {
		return err
	}
	defer reader.Close()
	switch {
	case t.isTask:
		return c.showTask(ctx.Context, reader, s, t.index, ctx.Bool("json"))
	case ctx.Bool("json"):
		return encode(c.stdout, s.Record.Summary(s.Head))
	}
	return c.showSweep(ctx.Context, reader, s)
}

func (c *command) showSweep(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	h, r := s.Head, s.Record
	state := string(h.State)
	if h.Reason != "" {
		state += ": " + h.Reason
	}
	c.field("sweep", h.ID)
	c.field("state", state)
	c.field("tasks", outcomeText(h))
	c.field("submitted", h.Submitted.In(local()).Format(time.DateTime))
	c.field("project", r.Project+", revision "+r.Recipe.Revision)
	c.field("command", result.CommandLine(r.Recipe.Command))
	for _, p := range r.Space.Parameters() {
		c.field("", p.String())
	}
	if !r.Objective.IsZero() {
		c.field("objective", r.Objective.String())
	}
	c.field("files", filepath.Join(outputFolder, h.ID))
	if err := c.failures(ctx, reader, s); err != nil {
		return err
	}
	return c.warnUnranked(ctx, reader, s)
}

// field prints one line of a description.
func (c *command) field(name, value string) {
	fmt.Fprintf(c.stdout, "%-10s  %s\n", name, cli.Visible(value))
}

// attemptJSON is an attempt in the JSON of one task.
type attemptJSON struct {
	Attempt    int          `json:"attempt"`
	Class      *task.Class  `json:"class"` // null while it runs
	Reason     *string      `json:"reason"`
	ExitCode   *int         `json:"exit_code"`
	Host       *string      `json:"host"`
	Slot       *int         `json:"slot"`
	Started    *time.Time   `json:"started"`
	Duration   *float64     `json:"duration"`
	Revision   string       `json:"revision"`
	Resumed    bool         `json:"resumed"`
	Superseded bool         `json:"superseded"`
	Metrics    result.Final `json:"metrics"`
	Stdout     *task.Output `json:"stdout"`
	Stderr     *task.Output `json:"stderr"`
}

func newAttemptJSON(t sweep.Try) attemptJSON {
	a := attemptJSON{Attempt: t.Number, Revision: t.Revision, Superseded: t.Superseded}
	if !t.Started.IsZero() {
		a.Host, a.Slot, a.Started, a.Resumed = &t.Start.Host, &t.Start.Slot, &t.Started, t.Start.Resumed
	}
	if o := t.Outcome; o != nil {
		seconds := o.Duration.Seconds()
		a.Class, a.ExitCode, a.Duration, a.Metrics, a.Stdout, a.Stderr = &o.Class, o.ExitCode, &seconds, o.Metrics, &o.Stdout, &o.Stderr
		if o.Reason != "" {
			a.Reason = &o.Reason
		}
	}
	return a
}

func (c *command) showTask(ctx context.Context, reader *store.Reader, s store.Sweep, index int64, asJSON bool) error {
	t, err := readTask(ctx, reader, s, index)
	if err != nil {
		return err
	}
	tries, err := reader.Tries(ctx, s, index)
	if err != nil {
		return err
	}
	if current := t.Try; current.Outcome != nil || !current.Started.IsZero() {
		if n := len(tries); n == 0 || tries[n-1].Number != current.Number || tries[n-1].Superseded {
			tries = append(tries, current)
		}
	}
	row := s.Record.Rows(s.Head.ID)(t)
	if asJSON {
		return c.showTaskJSON(ctx, reader, s, row, tries)
	}
	c.field("task", row.ID)
	c.field("state", row.State)
	c.field("command", result.CommandLine(row.Argv))
	c.field("files", taskFolder(task.ID{Sweep: s.Head.ID, Index: index}))
	for _, m := range row.Metrics {
		c.field("metric", m.Name+" = "+result.HumanNumber(m.Value))
	}
	for _, t := range tries {
		c.field(fmt.Sprintf("attempt %d", t.Number), attemptText(t))
	}
	return nil
}

// attemptText is "2026-11-21 10:00:00 on gpu1:0, 12.3s, error: exit code 1".
func attemptText(t sweep.Try) string {
	text := "did not begin"
	if !t.Started.IsZero() {
		text = fmt.Sprintf("%s on %s:%d", t.Started.In(local()).Format(time.DateTime), t.Start.Host, t.Start.Slot)
	}
	if t.Start.Resumed {
		text += ", found outputs of an earlier attempt"
	}
	if o := t.Outcome; o != nil {
		text += ", " + result.HumanDuration(o.Duration.Seconds()) + ", " + string(o.Class)
		if o.Reason != "" {
			text += ": " + o.Reason
		}
		if o.Stdout.Truncated || o.Stderr.Truncated {
			text += ", output cut"
		}
	}
	if t.Superseded {
		text += ", superseded"
	}
	return text
}

// showTaskJSON writes one object: the task, its attempts, and every number that its newest attempt printed.
func (c *command) showTaskJSON(ctx context.Context, reader *store.Reader, s store.Sweep, row result.Row, tries []sweep.Try) error {
	out := struct {
		Task     result.Row      `json:"task"`
		Attempts []attemptJSON   `json:"attempts"`
		Series   []result.Sample `json:"series"`
	}{Task: row, Attempts: []attemptJSON{}, Series: []result.Sample{}}
	for _, t := range tries {
		out.Attempts = append(out.Attempts, newAttemptJSON(t))
	}
	if n := len(tries); n > 0 {
		series, err := reader.Series(ctx, s, row.Index, tries[n-1].Number)
		if err != nil {
			return err
		}
		out.Series = append(out.Series, series...)
	}
	return encode(c.stdout, out)
}
