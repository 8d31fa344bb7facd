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

// continuation is how an existing sweep goes on: resume or retry.
type continuation struct {
	do func(context.Context, sweepActions, string, api.ResumeRequest,
		api.Detail) (api.StartedSweep, error)
	repeatable bool
}

// resume is `run-tasks resume`.
func (c *command) resume(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err := cmp.Or(noOverrides(ctx), err); err != nil {
		return err
	}
	return c.continueSweep(ctx, id, nil, continuation{repeatable: true, do: func(ctx context.Context, m sweepActions,
		id string, g api.ResumeRequest, f api.Detail) (api.StartedSweep, error) {
		return m.Resume(ctx, id, g, f)
	}})
}

// continueSweep runs tasks of an existing sweep, and shows it to its end.
func (c *command) continueSweep(ctx *cliv2.Context, id string, indexes []int64, act continuation) error {
	if err := checkRunning(ctx); err != nil {
		return err
	}
	if ctx.String("d") != "" && !ctx.Bool("updated") {
		return cli.Wrong("", "-d needs --updated: otherwise a sweep runs the files that it was submitted with")
	}
	src, s, err := c.openSweep(ctx, id, false)
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
	now, err := c.currentProjectOf(ctx, s)
	if err != nil {
		return err
	}
	if m, ok := src.(*remote); ok {
		c.print(now.notes())
		return c.runRemotely(ctx, m, func(work context.Context, f api.Detail) (none api.StartedSweep,
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
		do := func(work context.Context, m sweepActions, f api.Detail) (none api.StartedSweep, err error) {
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
