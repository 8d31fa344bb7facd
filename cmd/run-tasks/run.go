package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// runName is `run-tasks NAME`: a new sweep.
func (c *command) runName(ctx *cliv2.Context) error {
	name, change, err := changeOf(ctx)
	switch {
	case err != nil:
		return err
	case name == "" && ctx.NumFlags() == 0:
		_ = cliv2.ShowAppHelp(ctx)
		return cli.Code(cli.Usage)
	case name == "":
		return cli.Wrong("run-tasks [-d FOLDER] NAME, a task definition of FOLDER/tasks.yml", "which task should run?")
	case ctx.Bool("all") && !ctx.Bool("dry-run"):
		return cli.Wrong("add --dry-run to see every task; without it every task is run anyway", "--all is for --dry-run")
	}
	if err := cmp.Or(checkRunning(ctx), checkPriority(ctx)); err != nil {
		return err
	}
	if err := c.checkLocation(ctx, name); err != nil {
		return err
	}
	at := locationOf(ctx)
	switch {
	case ctx.Bool("dry-run"):
		return c.dryRun(ctx, name, change)
	case at != inFolder:
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return c.submitTo(ctx, m, name, change)
	}
	return c.guarded(ctx.Context, func() error { return c.submit(ctx, name, change) })
}

func (c *command) dryRun(ctx *cliv2.Context, name string, change space.Change) error {
	p, err := c.readRunnable(c.projectOf(ctx), name, change)
	if err != nil {
		return err
	}
	noteLocation(ctx, p)
	p.noteUnused(locationOf(ctx))
	d := dryRun{name: p.task.Name, record: p.record(""), spaces: []*space.Space{p.space}, total: p.space.Len(), all: ctx.Bool("all"), config: p.config}
	if ctx.Bool("missing") {
		if err := c.onlyMissing(ctx, &d, p); err != nil {
			return err
		}
	}
	files, err := projects.List(ctx.Context, p.dir)
	if err != nil {
		return projectError(err)
	}
	if err := d.noteFolder(files, locationOf(ctx)); err != nil {
		return err
	}
	if d.where, err = c.slots(ctx, p.dir, p.file); err != nil {
		return err
	}
	c.print(p.notes)
	if !ctx.Bool("as-pushed") {
		c.noteExcluded(files, p.record(""))
		c.noteOwnFile(files, p.record("").Recipe)
		c.print(unmatchedCode(files, p.task))
	}
	if d.total == 0 {
		c.nothingMissing(p)
		return nil
	}
	return c.writeDryRun(ctx, d)
}

func (c *command) nothingMissing(p *project) {
	fmt.Fprintf(c.stderr, "nothing is missing: %s of %s, and each has succeeded\n",
		tasksOf(p.space, p.space.Len()), p.task.Name)
}

func (c *command) print(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(c.stderr, "note: "+cli.Visible(n))
	}
}

// submit runs a new sweep to its end.
func (c *command) submit(ctx *cliv2.Context, name string, change space.Change) error {
	p, err := c.readRunnable(c.projectOf(ctx), name, change)
	if err != nil {
		return err
	}
	if err := secretsSet(p.file.Secrets); err != nil {
		return err
	}
	noteLocation(ctx, p)
	p.noteUnused(inFolder)
	p.noteShortSecrets()
	c.print(p.notes)
	return c.session(ctx, name, errand{do: c.submission(ctx, p), repeatable: true})
}

// submission submits a sweep of a project, once however often it is called. Called again it lets the sweep go on that a runner kept and
// did not live to tell of: the end of a runner pauses its sweeps.
func (c *command) submission(ctx *cliv2.Context, p *project) func(context.Context, sweepActions,
	api.Detail) (api.StartedSweep, error) {
	var s *api.Submission // nil: not known yet
	key, sent := rand.Text(), false
	return func(work context.Context, m sweepActions, f api.Detail) (none api.StartedSweep, err error) {
		if s == nil {
			if s, err = c.prepare(ctx, work, p, m); s == nil || err != nil {
				return none, err
			}
		}
		s.MinNumber = nextNumber(p.task.Name)
		again := sent
		sent = true
		b, err := m.Submit(work, *s, key, f)
		if err != nil || !again {
			return b, err
		}
		now, err := m.Sweep(work, b.ID, false)
		if err != nil || now.State != core.Paused {
			return b, err
		}
		return m.Resume(work, b.ID, api.ResumeRequest{}, f)
	}
}

// prepare keeps the project's files for a new sweep, and returns that; nil when nothing of it is missing.
func (c *command) prepare(ctx *cliv2.Context, work context.Context, p *project, q queries) (*api.Submission, error) {
	m, err := snapshot(work, p.dir)
	if err != nil {
		return nil, err
	}
	c.noteExcluded(m, p.record(""))
	c.noteOwnFile(m, p.record("").Recipe)
	if err := checkFolder(m, p.record("").Recipe, inFolder); err != nil {
		return nil, err
	}
	s := &api.Submission{Record: p.record(m.Revision()), Code: codeOf(p.task).Key(m)}
	s.Record.Priority = ctx.Int("priority")
	c.print(unmatchedCode(m, p.task))
	if ctx.Bool("missing") {
		found, notes, err := newGap(m, s.Code, p.task, revisionsFolder).narrow(work, q, &s.Record)
		if err != nil {
			return nil, err
		}
		c.print(notes)
		if !found {
			c.nothingMissing(p)
			return nil, nil
		}
	}
	return s, nil
}
