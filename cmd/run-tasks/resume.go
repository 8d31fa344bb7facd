package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

// continuation is how an existing sweep goes on: (*api.Client).Resume or Retry.
type continuation func(*api.Client, context.Context, string, api.ResumeRequest,
	api.Detail) (api.StartedSweep, error)

func resumeCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "resume", ArgsUsage: oneSweep, Action: resumeAction(c),
		Usage: "continue a paused or interrupted sweep",
		Flags: append(runFlags(), flagUpdated()),
		Description: `EXAMPLES:
   run-tasks resume
   # with the current code of the project
   run-tasks resume run_training-1 --updated`}
}

// resumeAction makes the action of `run-tasks resume`.
func resumeAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		id, err := argument(ctx)
		if err := cmp.Or(noOverrides(ctx), err); err != nil {
			return err
		}
		return continueSweep(ctx, c, continueOptions{sweep: id, how: (*api.Client).Resume})
	}
}

// continueOptions are the options of `run-tasks resume` and `run-tasks retry`.
type continueOptions struct {
	runOptions
	project.Update
	sweep   string
	chosen  *int64  // how many tasks --where picked when it was looked at
	indexes []int64 // of tasks; none: all that failed
	where   string  // those of them that match; "": all
	retry   bool
	fresh   bool
	how     continuation
}

// continueSweep runs tasks of an existing sweep, and shows it to its end.
func continueSweep(ctx *cliv2.Context, c *command, o continueOptions) (err error) {
	if o.runOptions, err = readRunOptions(ctx); err != nil {
		return err
	}
	if o.Updated = ctx.Bool("updated"); o.Updated {
		o.Dir = ctx.String("d")
	}
	o.fresh = ctx.Bool("fresh")
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	return o.run(ctx.Context, c, src)
}

func (o continueOptions) run(ctx context.Context, c *command, src source) error {
	s, err := findSweep(ctx, &c.terminal, src, o.sweep, false)
	if err != nil {
		return err
	}
	if err := failed(ctx, src, s, o.indexes); err != nil {
		return err
	}
	var notes []string
	if s.Counts[task.Succeeded.String()] == s.Total {
		other, found, err := o.otherPaused(ctx, src)
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
	if o.where != "" {
		n, err := selected(ctx, src, &c.terminal, s, o.where, "failed or was cancelled",
			api.RetriedStates)
		if err != nil {
			return err
		}
		o.chosen = &n
		notes = append(notes, whereNote(n))
	}
	now, err := o.Current(s)
	if err != nil {
		return err
	}
	notes = slices.Concat(notes, now.Notes(), edited(ctx, src, now))
	m, _ := src.(*remote)
	return run(ctx, c, m, o.runOptions, launch{notes: notes, secrets: s.Record.Recipe.Secrets,
		needs: needOfSweep(s), typed: s.Record.CommandLine, begin: o.begin(&c.terminal, now)})
}

// begin returns what lets a sweep go on at a backend.
func (o continueOptions) begin(t *terminal, now project.Current) func(context.Context, backend,
	api.Detail) (api.StartedSweep, error) {
	file := now.File // the workers are not compared with a project that the sweep does not use
	if !now.Updated {
		file = nil
	}
	// failed tasks may have failed because files were excluded
	toNote := now.Updated || o.retry
	s := now.Sweep
	return func(ctx context.Context, at backend, d api.Detail) (b api.StartedSweep, err error) {
		if toNote {
			toNote = false
			t.say(now.Remarks(ctx, t.self)...)
		}
		if err := at.accepts(ctx, now.Dir, file); err != nil {
			return b, err
		}
		g, err := now.Bring(ctx, at.take)
		if err != nil {
			return b, err
		}
		g.Indexes, g.Fresh, g.KeepGoing = o.indexes, o.fresh, o.keepGoing
		g.Where, g.AtMost = api.Where(o.where), o.chosen
		return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
			error) {
			g.Secrets = v
			return o.how(at.client(), ctx, s.ID, g, d)
		})
	}
}

// edited says what of a sweep's project changed since the revision that it goes on with.
func edited(ctx context.Context, src source, now project.Current) []string {
	scan := local.Scan
	if _, is := src.(*remote); is {
		scan = func(ctx context.Context, dir string) (*projects.Manifest, error) {
			return projects.Scan(ctx, dir, projects.Options{Cache: site.HashCache(dir)})
		}
	}
	revisions, err := revisionsOf(ctx, src)
	if err != nil {
		revisions = ""
	}
	return now.Edited(ctx, scan, revisions)
}

// otherPaused returns the sweep that an unnamed `resume` continues when the newest sweep is done:
// the only paused one. It is an error when several are paused.
func (o continueOptions) otherPaused(ctx context.Context, src source) (s api.Sweep, found bool,
	err error) {
	if o.sweep != "" || o.retry {
		return s, false, nil
	}
	all, err := src.Sweeps(ctx, "", 0)
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
		s, err = src.Sweep(ctx, paused[0], false)
		return s, err == nil, err
	}
	return s, false, cli.Wrong("run-tasks resume "+paused[0]+", for example",
		"several sweeps are paused: %s", strings.Join(paused, ", "))
}
