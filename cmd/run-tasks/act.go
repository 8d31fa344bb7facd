package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

// again is a way in which a sweep that exists goes on.
type again struct {
	do func(context.Context, deeds, string, api.ResumeRequest,
		api.Detail) (api.StartedSweep, error)
	repeatable bool
}

// resume is `run-tasks resume`.
func (c *command) resume(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err := cmp.Or(noOverrides(ctx), err); err != nil {
		return err
	}
	return c.goOn(ctx, id, nil, again{repeatable: true, do: func(ctx context.Context, m deeds,
		id string, g api.ResumeRequest, f api.Detail) (api.StartedSweep, error) {
		return m.Resume(ctx, id, g, f)
	}})
}

// retry is `run-tasks retry`.
func (c *command) retry(ctx *cliv2.Context) error {
	if err := noOverrides(ctx); err != nil {
		return err
	}
	id, indexes, err := parseTargets(ctx.Args().Slice())
	if err != nil {
		return err
	}
	return c.goOn(ctx, id, indexes, again{do: func(ctx context.Context, m deeds, id string,
		g api.ResumeRequest, f api.Detail) (api.StartedSweep, error) {
		return m.Retry(ctx, id, g, f)
	}})
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
func (c *command) goOn(ctx *cliv2.Context, id string, indexes []int64, act again) error {
	if err := checkRunning(ctx); err != nil {
		return err
	}
	if ctx.String("d") != "" && !ctx.Bool("updated") {
		return cli.Wrong("", "-d needs --updated: otherwise a sweep runs the files that it was submitted with")
	}
	src, s, err := c.reading(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	if err := failed(ctx.Context, src, s, indexes); err != nil {
		return err
	}
	if s.Counts[task.Succeeded.String()] == s.Total {
		other, found, err := otherPaused(ctx, src, id)
		if err != nil {
			return err
		}
		if !found {
			fmt.Fprintf(c.stderr, "%s is finished, and all of its tasks succeeded: there is nothing to do\n", s.ID)
			return nil
		}
		fmt.Fprintf(c.stderr, "%s is finished, and all of its tasks succeeded: resuming %s, which is paused\n", s.ID, other.ID)
		s = other
	}
	now, err := c.presentOf(ctx, s)
	if err != nil {
		return err
	}
	if m, ok := src.(*remote); ok {
		c.print(now.notes())
		return c.away(ctx, m, func(work context.Context, f api.Detail) (none api.StartedSweep,
			err error) {
			if err := m.ready(work); err != nil {
				return none, err
			}
			if now.updated {
				if err := m.fits(work, now.dir, now.file); err != nil {
					return none, err
				}
			}
			g, err := now.bring(work, m.take)
			if err != nil {
				return none, err
			}
			g.Indexes = indexes
			return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
				error) {
				g.Secrets = v
				return act.do(work, m.Client, s.ID, g, f)
			})
		})
	}
	if err := secretsSet(s.Record.Recipe.Secrets); err != nil {
		return err
	}
	return c.guarded(ctx.Context, func() error {
		c.print(now.notes())
		do := func(work context.Context, m deeds, f api.Detail) (none api.StartedSweep, err error) {
			g, err := now.bring(work, snapshot)
			if err != nil {
				return none, err
			}
			g.Indexes = indexes
			return act.do(work, m, s.ID, g, f)
		}
		return c.session(ctx, ctx.Command.Name+" "+s.ID, errand{do, act.repeatable})
	})
}

// otherPaused returns the sweep that an unnamed `resume` continues when the newest sweep is done: the
// only paused one. It is an error when several are paused.
func otherPaused(ctx *cliv2.Context, src source, named string) (s api.Sweep, found bool, err error) {
	if named != "" || ctx.Command.Name != "resume" {
		return s, false, nil
	}
	all, err := src.Sweeps(ctx.Context, "", 0)
	if err != nil {
		return s, false, err
	}
	var paused []string
	for _, one := range slices.Backward(all) {
		if one.State == core.Paused {
			paused = append(paused, one.ID)
		}
	}
	switch len(paused) {
	case 0:
		return s, false, nil
	case 1:
		s, err = src.Sweep(ctx.Context, paused[0], false)
		return s, err == nil, err
	}
	return s, false, cli.Wrong("run-tasks resume "+paused[0]+", for example", "several sweeps are paused: %s", strings.Join(paused, ", "))
}

// failed refuses tasks that have not ended other than well.
func failed(ctx context.Context, src source, s api.Sweep, indexes []int64) error {
	for _, i := range indexes {
		t, err := src.Task(ctx, s.ID, i)
		if err != nil {
			return err
		}
		if state, err := task.ParseState(t.Row.State); err == nil && (!state.Terminal() || state == task.Succeeded) {
			return cli.Wrong("only tasks that failed or were cancelled run again", "%s is %s", t.Row.ID, state)
		}
	}
	return nil
}
