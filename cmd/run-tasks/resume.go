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

// continuation is how an existing sweep goes on: (*api.Client).Resume or Retry.
type continuation func(*api.Client, context.Context, string, api.ResumeRequest,
	api.Detail) (api.StartedSweep, error)

// resume is `run-tasks resume`.
func (c *command) resume(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err := cmp.Or(noOverrides(ctx), err); err != nil {
		return err
	}
	return c.continueSweep(ctx, id, nil, (*api.Client).Resume)
}

// continueSweep runs tasks of an existing sweep, and shows it to its end.
func (c *command) continueSweep(ctx *cliv2.Context, id string, indexes []int64,
	goOn continuation) error {
	if err := checkRunning(ctx); err != nil {
		return err
	}
	if ctx.String("d") != "" && !ctx.Bool("updated") {
		return cli.Wrong("", "-d needs --updated: otherwise a sweep runs the files that it was "+
			"submitted with")
	}
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	if err := failed(ctx.Context, src, s, indexes); err != nil {
		return err
	}
	var notes []string
	if s.Counts[task.Succeeded.String()] == s.Total {
		other, found, err := otherPaused(ctx, src, id)
		if err != nil {
			return err
		}
		if !found {
			fmt.Fprintf(c.stderr, "%s is finished, and all of its tasks succeeded: there is "+
				"nothing to do\n", s.ID)
			return nil
		}
		notes = append(notes, fmt.Sprintf("%s is finished, and all of its tasks succeeded: "+
			"resuming %s, which is paused", s.ID, other.ID))
		s = other
	}
	now, err := c.currentProjectOf(ctx, s)
	if err != nil {
		return err
	}
	notes = slices.Concat(notes, now.notes(), now.edited(ctx.Context, src))
	file := now.file // the workers are not compared with a project that the sweep does not use
	if !now.updated {
		file = nil
	}
	// failed tasks may have failed because files were excluded
	toNote := now.updated || ctx.Command.Name == "retry"
	begin := func(work context.Context, at backend, f api.Detail) (b api.StartedSweep, err error) {
		if toNote {
			toNote = false
			c.noteExcludedNow(work, now)
		}
		if err := at.accepts(work, now.dir, file); err != nil {
			return b, err
		}
		g, err := now.bring(work, at)
		if err != nil {
			return b, err
		}
		g.Indexes, g.Fresh = indexes, ctx.Bool("fresh")
		g.KeepGoing = ctx.Bool("keep-going")
		return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
			error) {
			g.Secrets = v
			return goOn(at.client(), work, s.ID, g, f)
		})
	}
	m, _ := src.(*remote)
	return c.run(ctx, m, launch{notes: notes, secrets: s.Record.Recipe.Secrets,
		needs: needOfSweep(s), begin: begin})
}

// otherPaused returns the sweep that an unnamed `resume` continues when the newest sweep is done:
// the only paused one. It is an error when several are paused.
func otherPaused(ctx *cliv2.Context, src source, named string) (s api.Sweep, found bool,
	err error) {
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
	return s, false, cli.Wrong("run-tasks resume "+paused[0]+", for example",
		"several sweeps are paused: %s", strings.Join(paused, ", "))
}
