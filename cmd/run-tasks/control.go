package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// control does something with a sweep or task, over the API of whoever runs this folder: for that moment this process,
// when nobody does. It returns the target with its sweep, and how that stands then.
func (c *command) control(ctx *cliv2.Context, do func(context.Context, *master.Client, target) (sweep.Summary, error)) (t target, after sweep.Summary, err error) {
	arg, err := argument(ctx)
	if err != nil {
		return t, after, err
	}
	if t, err = parseTarget(arg); err != nil {
		return t, after, err
	}
	if t.sweep, err = c.unended(ctx.Context, t); err != nil {
		return t, after, err
	}
	if !alive() {
		r, failed := newRunner(ctx.Context, ctx.Command.Name, cli.Log(c.stderr))
		if failed != nil {
			return t, after, failed
		}
		defer func() { err = errors.Join(err, r.close()) }()
	}
	client := master.Dial(socketPath)
	defer client.Close()
	after, err = do(ctx.Context, client, t)
	return t, after, refused(err)
}

// unended returns the sweep of a target, whose task must not have ended.
func (c *command) unended(ctx context.Context, t target) (id string, err error) {
	reader, s, err := reading(ctx, t.sweep)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	if !t.isTask {
		return s.Head.ID, nil
	}
	row, err := readTask(ctx, reader, s, t.index)
	if err == nil && row.State.Terminal() {
		err = cli.Wrong("", "%s has ended already: %s", t.text(), row.State)
	}
	return s.Head.ID, err
}

// tell says how a sweep stands now.
func (c *command) tell(s sweep.Summary) {
	text := s.ID + " is " + string(s.State)
	if n := s.Counts[task.Running.String()]; n > 0 {
		text += fmt.Sprintf("; %s still running", plural(n, "task"))
	}
	fmt.Fprintln(c.stdout, text)
}

// refused gives answers of the master their exit code.
func refused(err error) error {
	if _, ok := errors.AsType[*master.WrongState](err); ok {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	if e, ok := errors.AsType[*master.Refused](err); ok && e.Status < 500 {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return &cli.Error{Code: cli.Unreachable, Err: err, Remedy: "what runs the sweep has just ended: run-tasks ls shows how it stands"}
	}
	return unknownSweep(err)
}

// cancel is `run-tasks cancel`.
func (c *command) cancel(ctx *cliv2.Context) error {
	t, after, err := c.control(ctx, func(ctx context.Context, m *master.Client, t target) (sweep.Summary, error) {
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
	c.tell(after)
	return nil
}

// pause is `run-tasks pause`.
func (c *command) pause(ctx *cliv2.Context) error {
	if name, _, isTask := strings.Cut(ctx.Args().First(), "/"); isTask {
		return cli.Wrong("run-tasks pause "+name+" pauses its sweep", "a single task cannot be paused")
	}
	_, after, err := c.control(ctx, func(work context.Context, m *master.Client, t target) (sweep.Summary, error) {
		return m.Pause(work, t.sweep, ctx.Bool("stop"))
	})
	if err != nil {
		return err
	}
	c.tell(after)
	return nil
}
