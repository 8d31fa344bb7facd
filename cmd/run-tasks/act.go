package main

import (
	"context"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// resume is `run-tasks resume`.
func (c *command) resume(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	return c.goOn(ctx, id, nil, func(work context.Context, r *runner, id string, code master.Code) error {
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
	return c.goOn(ctx, id, indexes, func(work context.Context, r *runner, id string, code master.Code) error {
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
func (c *command) goOn(ctx *cliv2.Context, id string, indexes []int64, act func(context.Context, *runner, string, master.Code) error) error {
	if ctx.Int("slots") < 1 {
		return cli.Wrong("", "--slots must be at least 1")
	}
	if ctx.String("d") != "" && !ctx.Bool("updated") {
		return cli.Wrong("", "-d needs --updated: otherwise a sweep runs the files that it was submitted with")
	}
	s, err := c.failed(ctx.Context, id, indexes)
	if err != nil {
		return err
	}
	id = s.Head.ID
	if s.Head.Rows[task.Succeeded] == s.Head.Total {
		fmt.Fprintf(c.stderr, "%s is finished, and all of its tasks succeeded: there is nothing to do\n", id)
		return nil
	}
	if err := secretsSet(s.Record.Recipe.Secrets); err != nil {
		return err
	}
	return c.guarded(func() error {
		return c.session(ctx, ctx.Command.Name+" "+id, func(work context.Context, r *runner) (string, error) {
			code, err := c.updated(work, ctx, s.Record)
			if err != nil {
				return "", err
			}
			return id, refused(act(work, r, id, code))
		})
	})
}

// failed reads a sweep; the tasks of indexes must have ended other than well.
func (c *command) failed(ctx context.Context, id string, indexes []int64) (store.Sweep, error) {
	reader, s, err := reading(ctx, id)
	if err != nil {
		return s, err
	}
	defer reader.Close()
	for _, i := range indexes {
		t, err := readTask(ctx, reader, s, i)
		if err != nil {
			return s, err
		}
		if !t.State.Terminal() || t.State == task.Succeeded {
			return s, cli.Wrong("only tasks that failed or were cancelled run again", "%s is %s", task.ID{Sweep: s.Head.ID, Index: i}, t.State)
		}
	}
	return s, nil
}

// updated is the project's present revision, when --updated asks for it.
func (c *command) updated(work context.Context, ctx *cliv2.Context, r sweep.Record) (master.Code, error) {
	if !ctx.Bool("updated") {
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
