package main

import (
	"context"
	"errors"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// control does something with a sweep or task: through the runner of this folder when there is one, else on the store.
func (c *command) control(ctx *cliv2.Context, live func(*master.Client, context.Context, target) (sweep.Summary, error),
	still func(*master.Master, context.Context, target) (sweep.Head, error)) error {
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
	reader.Close()
	t.sweep = s.Head.ID
	if alive() {
		client := master.Dial(socketPath)
		defer client.Close()
		after, err := live(client, ctx.Context, t)
		if err != nil {
			return refused(err)
		}
		c.tell(after.ID, string(after.State), after.Counts["running"])
		return nil
	}
	r, err := newRunner(ctx.Context, ctx.Command.Name, cli.Log(c.stderr))
	if err != nil {
		return err
	}
	h, err := still(r.master, ctx.Context, t)
	if err = errors.Join(refused(err), r.close()); err != nil {
		return err
	}
	c.tell(h.ID, string(h.State), 0)
	return nil
}

// tell says how a sweep stands now.
func (c *command) tell(id, state string, running int64) {
	text := id + " is " + state
	if running > 0 {
		text += fmt.Sprintf("; %s still ending", plural(running, "task"))
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
	return unknownSweep(err)
}

const byPerson = "by a person"

func (c *command) cancel(ctx *cliv2.Context) error {
	return c.control(ctx, func(m *master.Client, ctx context.Context, t target) (sweep.Summary, error) {
		if t.isTask {
			return m.CancelTask(ctx, t.sweep, t.index)
		}
		return m.Cancel(ctx, t.sweep)
	}, func(m *master.Master, ctx context.Context, t target) (sweep.Head, error) {
		if t.isTask {
			return m.CancelTask(ctx, task.ID{Sweep: t.sweep, Index: t.index}, byPerson)
		}
		return m.Cancel(ctx, t.sweep, byPerson)
	})
}

func (c *command) pause(ctx *cliv2.Context) error {
	stop := ctx.Bool("stop")
	return c.control(ctx, func(m *master.Client, ctx context.Context, t target) (sweep.Summary, error) {
		return m.Pause(ctx, t.sweep, stop)
	}, func(m *master.Master, ctx context.Context, t target) (sweep.Head, error) {
		return m.Pause(ctx, t.sweep, byPerson, stop)
	})
}

// resume is `run-tasks resume`.
func (c *command) resume(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	return c.goOn(ctx, id, func(work context.Context, r *runner, id string, code master.Code) error {
		_, err := r.master.Resume(work, id, code)
		return err
	})
}

// retry is `run-tasks retry`.
func (c *command) retry(ctx *cliv2.Context) error {
	id, indexes, err := parseTargets(ctx.Args().Slice())
	if err != nil {
		return err
	}
	return c.goOn(ctx, id, func(work context.Context, r *runner, id string, code master.Code) error {
		_, err := r.master.Retry(work, id, indexes, code)
		return err
	})
}

// parseTargets reads one sweep, or tasks of one sweep.
func parseTargets(args []string) (id string, indexes []int64, err error) {
	for i, arg := range args {
		t, err := parseTarget(arg)
		switch {
		case err != nil:
			return "", nil, err
		case i > 0 && (t.sweep != id || !t.isTask || len(indexes) == 0):
			return "", nil, cli.Wrong("name one sweep, or tasks of one sweep", "%s and %s do not go together", args[0], arg)
		}
		if id = t.sweep; t.isTask {
			indexes = append(indexes, t.index)
		}
	}
	return id, indexes, nil
}

// goOn runs tasks of a sweep that exists, to its end.
func (c *command) goOn(ctx *cliv2.Context, id string, act func(context.Context, *runner, string, master.Code) error) error {
	if ctx.Int("slots") < 1 {
		return cli.Wrong("", "--slots must be at least 1")
	}
	reader, s, err := reading(ctx.Context, id)
	if err != nil {
		return err
	}
	reader.Close()
	id = s.Head.ID
	if s.Head.Rows[task.Succeeded] == s.Head.Total {
		fmt.Fprintf(c.stderr, "%s is finished, and all of its tasks succeeded: there is nothing to do\n", id)
		return nil
	}
	return c.guarded(func() error {
		return c.session(ctx, ctx.Command.Name+" "+id, func(work context.Context, r *runner) (string, error) {
			if err := secretsSet(s.Record.Recipe.Secrets); err != nil {
				return "", err
			}
			code, err := c.updated(work, ctx, s.Record)
			if err != nil {
				return "", err
			}
			return id, refused(act(work, r, id, code))
		})
	})
}

// updated is the project's present revision, when --updated asks for it.
func (c *command) updated(work context.Context, ctx *cliv2.Context, r sweep.Record) (master.Code, error) {
	if !ctx.Bool("updated") {
		if ctx.String("d") != "" {
			return master.Code{}, cli.Wrong("", "-d needs --updated: otherwise a sweep runs the files that it was submitted with")
		}
		return master.Code{}, nil
	}
	dir := ctx.String("d")
	if dir == "" {
		dir = r.Project
	}
	m, err := snapshot(work, dir)
	if err != nil {
		return master.Code{}, err
	}
	return master.Code{Revision: m.Revision(), Code: codeOf(m, r.ParametersFile)}, nil
}
