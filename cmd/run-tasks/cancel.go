package main

import (
	"context"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// control does something with a sweep or task. It returns the target with its sweep, and how that
// stands then. Ask, unless it is nil, is called with the newest sweep if none is named, and may
// refuse.
func (c *command) control(ctx *cliv2.Context, ask func(api.Sweep) error, do func(context.Context,
	*api.Client, target) (core.Summary, error)) (t target, after core.Summary, err error) {
	arg, err := argument(ctx)
	if err != nil {
		return t, after, err
	}
	if t, err = parseTarget(arg); err != nil {
		return t, after, err
	}
	src, s, err := c.openSweep(ctx, t.sweep, false)
	if err != nil {
		return t, after, err
	}
	defer src.close()
	if arg == "" && ask != nil {
		if err := ask(s); err != nil {
			return t, after, err
		}
	}
	t.sweep = s.ID
	if err := unended(ctx.Context, src, t); err != nil {
		return t, after, err
	}
	err = src.act(ctx.Context, func(client *api.Client) (err error) {
		after, err = do(ctx.Context, client, t)
		return err
	})
	return t, after, err
}

// unended refuses a task that has ended.
func unended(ctx context.Context, src source, t target) error {
	if !t.isTask {
		return nil
	}
	r, err := src.Task(ctx, t.sweep, t.index)
	if err != nil {
		return err
	}
	if state, err := task.ParseState(r.Row.State); err == nil && state.Terminal() {
		return cli.Wrong("", "%s has already ended: %s", t.text(), state)
	}
	return nil
}

// printState says how a sweep stands now.
func (c *command) printState(s core.Summary) {
	text := s.ID + " is " + string(s.State)
	if n := s.Counts[task.Running.String()]; n > 0 {
		text += fmt.Sprintf("; %s still running", plural(n, "task"))
	}
	fmt.Fprintln(c.stdout, text)
}

// cancel is `run-tasks cancel`.
func (c *command) cancel(ctx *cliv2.Context) error {
	ask := func(s api.Sweep) error { return c.agreesToCancel(ctx, s) }
	t, after, err := c.control(ctx, ask, func(ctx context.Context, m *api.Client,
		t target) (core.Summary, error) {
		if t.isTask {
			return m.CancelTask(ctx, t.sweep, t.index)
		}
		return m.Cancel(ctx, t.sweep)
	})
	if err != nil {
		return err
	}
	if t.isTask {
		fmt.Fprintln(c.stdout, "cancelled "+t.text())
	}
	c.printState(after)
	return nil
}

// agreesToCancel asks whether a command without a name means the newest sweep. A sweep that has ended
// is not asked about: it cannot be cancelled.
func (c *command) agreesToCancel(ctx *cliv2.Context, s api.Sweep) error {
	if ctx.Bool("yes") || s.State != core.Open && s.State != core.Paused {
		return nil
	}
	done, _ := display.Tally(s.Summary)
	agreed, asked := cli.Agrees(ctx.Context, c.stdin, c.stderr,
		fmt.Sprintf("Cancel %s, which is %s, with %d of %s done?", s.ID, s.State, done,
			plural(s.Total, "task")))
	switch {
	case agreed:
		return nil
	case asked:
		fmt.Fprintln(c.stderr, "nothing was cancelled")
		return cli.Code(cli.Failed)
	}
	return cli.Wrong(c.self+" cancel "+s.ID+", or add --yes to cancel the newest",
		"no sweep is named")
}
