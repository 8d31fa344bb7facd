package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// runName is `run-tasks NAME`: a new sweep.
func (c *command) runName(ctx *cliv2.Context) error {
	name, change, err := changeOf(ctx)
	switch {
	case err != nil:
		return err
	case c.argv != nil && name != "":
		return cli.Wrong("write NAME, or a command after --, not both", "unexpected argument %q",
			name)
	case c.argv != nil && len(c.argv) == 0:
		return cli.Wrong("run-tasks -- python3 train.py lr=0.1,0.01", "there is no command after --")
	case c.argv != nil && strings.HasPrefix(c.argv[0], "-"):
		return cli.Wrong("run-tasks -- python3 train.py lr=0.1,0.01", "after -- a program comes "+
			"first, not %s", c.argv[0])
	case c.argv != nil:
	case name == "" && ctx.NumFlags() == 0 && len(change.Set) == 0:
		return c.overview(ctx)
	case name == "":
		if name, err = c.onlyDefinition(ctx); err != nil {
			return err
		}
	}
	switch {
	case ctx.Bool("all") && !ctx.Bool("dry-run"):
		return cli.Wrong("add --dry-run to see every task; without it every task is run anyway",
			"--all requires --dry-run")
	}
	if err := cmp.Or(checkRunning(ctx), checkPriority(ctx), changeNeeds(ctx, &task.Needs{})); err != nil {
		return err
	}
	if c.argv == nil {
		for _, name := range []string{"as", "metric", "objective"} {
			if ctx.IsSet(name) {
				return cli.Wrong("without one, tasks.yml has flags, metrics and objective",
					"--%s requires a command after --", name)
			}
		}
		if err := c.checkLocation(ctx, name); err != nil {
			return err
		}
	}
	at := locationOf(ctx)
	c.useNewStore(ctx)
	switch {
	case ctx.Bool("dry-run"):
		return c.dryRun(ctx, name, change)
	case at != inFolder:
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return c.submit(ctx, m, name, change)
	}
	return c.submit(ctx, nil, name, change)
}

func (c *command) dryRun(ctx *cliv2.Context, name string, change space.Change) error {
	p, err := c.readRunnable(ctx, name, change)
	if err != nil {
		return err
	}
	p.noteUnused(locationOf(ctx))
	d := dryRun{name: p.task.Name, record: p.record(""), spaces: []*space.Space{p.space},
		total: p.space.Len(), all: ctx.Bool("all"), config: p.config}
	if ctx.Bool("missing") {
		if err := c.onlyMissing(ctx, &d, p); err != nil {
			return err
		}
	}
	files, err := p.list(ctx.Context)
	if err != nil {
		return err
	}
	if err := d.noteFolder(files, locationOf(ctx)); err != nil {
		return err
	}
	if d.where, err = c.places(ctx, p.dir, p.tasksFile(), p.needs()); err != nil {
		return err
	}
	c.print(p.notes)
	if !ctx.Bool("as-pushed") {
		c.noteFiles(files, p)
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

// submit has a new sweep run, by a master or in this folder.
func (c *command) submit(ctx *cliv2.Context, m *remote, name string, change space.Change) error {
	p, err := c.readRunnable(ctx, name, change)
	if err != nil {
		return err
	}
	if err := secretsSet(p.file.Secrets); err != nil {
		return err
	}
	noteLocation(ctx, p)
	p.noteUnused(locationOf(ctx))
	p.noteShortSecrets()
	return c.run(ctx, m, launch{notes: p.notes, secrets: p.file.Secrets, needs: p.needs(),
		begin: c.submission(ctx, p)})
}

// submission submits a sweep of a project.
func (c *command) submission(ctx *cliv2.Context, p *project) func(context.Context, backend,
	api.Detail) (api.StartedSweep, error) {
	return func(work context.Context, at backend, f api.Detail) (b api.StartedSweep, err error) {
		s, err := c.prepare(ctx, work, p, at)
		if s == nil || err != nil {
			return b, err
		}
		if err := at.complete(s); err != nil {
			return b, err
		}
		return at.client().Submit(work, *s, "", f)
	}
}

// prepare brings the project's files to where attempts find them, and returns the new sweep; nil
// when nothing of it is missing.
func (c *command) prepare(ctx *cliv2.Context, work context.Context, p *project,
	at backend) (*api.Submission, error) {
	if err := c.checkFiles(work, p, locationOf(ctx), ctx.Bool("as-pushed")); err != nil {
		return nil, err
	}
	if err := at.accepts(work, p.dir, p.tasksFile()); err != nil {
		return nil, err
	}
	revision, code, files, err := c.bring(work, p, at, ctx.Bool("as-pushed"))
	if err != nil {
		return nil, err
	}
	s := &api.Submission{Record: p.record(revision), Code: code}
	s.Record.Priority = ctx.Int("priority")
	s.Record.KeepGoing = s.Record.KeepGoing || ctx.Bool("keep-going")
	if !ctx.Bool("missing") {
		return s, nil
	}
	revisions, err := revisionsOf(work, at)
	if err != nil {
		return nil, err
	}
	found, others, notes, err := newGap(files, code, p, revisions).narrow(work, at, &s.Record)
	if err != nil {
		return nil, err
	}
	c.succeeded = others
	c.print(notes)
	if !found {
		c.nothingMissing(p)
		return nil, nil
	}
	return s, nil
}

// checkFiles says which of a project's files tasks do not get, and refuses what is wrong with the
// folders that they would get.
func (c *command) checkFiles(ctx context.Context, p *project, at location, asPushed bool) error {
	m, err := p.list(ctx)
	if err != nil {
		return err
	}
	if !asPushed {
		c.noteFiles(m, p)
	}
	return checkFolder(m, p.record("").Recipe, at)
}

// noteFiles says which of a project's files tasks do not get, or not as they may expect.
func (c *command) noteFiles(m *projects.Manifest, p *project) {
	r := p.record("")
	c.noteExcluded(m, r)
	c.noteOwnFile(m, r.Recipe)
	c.print(unmatchedCode(m, p.task))
}

// bring has attempts find the project's files: as they are now, or as a cluster was brought them
// last. It gives their revision, the hash of their code, and the files. Those that are not here are
// nil, and the revision stands for the hash of their code.
func (c *command) bring(ctx context.Context, p *project, at backend, asPushed bool) (revision,
	code string, files *projects.Manifest, err error) {
	if m, ok := at.(*remote); ok && asPushed {
		if revision, files = m.cluster.asPushed(ctx, p.dir); files == nil {
			return revision, revision, nil, nil
		}
	} else if files, err = at.take(ctx, p.dir); err != nil {
		return "", "", nil, err
	}
	return files.Revision(), codeOf(p.task, p.space).Key(files), files, nil
}
