package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/display"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// submitTo gives a new sweep to a master, and follows it.
func (c *command) submitTo(ctx *cliv2.Context, m *remote, name string, change space.Change) error {
	p, err := c.readRunnable(c.projectOf(ctx), name, change)
	if err != nil {
		return err
	}
	secrets, err := secretValues(p.file.Secrets)
	if err != nil {
		return err
	}
	p.noteUnused(locationOf(ctx))
	p.noteShortSecrets()
	c.print(p.notes)
	return c.runRemotely(ctx, m, func(work context.Context, f api.Detail) (none api.StartedSweep,
		err error) {
		if err := m.ready(work); err != nil {
			return none, err
		}
		if err := p.checkFolder(work, locationOf(ctx)); err != nil {
			return none, err
		}
		if err := m.fits(work, p.dir, p.file); err != nil {
			return none, err
		}
		revision, code, files, err := c.bring(work, m, p, ctx.Bool("as-pushed"))
		if err != nil {
			return none, err
		}
		s := api.Submission{Record: p.record(revision), Code: code, Secrets: secrets}
		s.Record.Priority = ctx.Int("priority")
		if ctx.Bool("missing") {
			revisions, err := revisionsOf(work, m)
			if err != nil {
				return none, err
			}
			found, notes, err := newGap(files, code, p.task, revisions).narrow(work, m, &s.Record)
			if err != nil {
				return none, err
			}
			c.print(notes)
			if !found {
				c.nothingMissing(p)
				return none, nil
			}
		}
		return m.Submit(work, s, "", f)
	})
}

// bring has the workers find the project's files: as they are now, or as they were brought last. It gives their revision, the hash of
// their code, and the files. Those that are not here are nil, and the revision stands for the hash of their code.
func (c *command) bring(ctx context.Context, m *remote, p *project, asPushed bool) (revision, code string, files *projects.Manifest, err error) {
	if asPushed && m.cluster == nil {
		return "", "", nil, cli.Wrong("", "--as-pushed is for a cluster of config.yml")
	}
	if asPushed {
		revision = m.cluster.CurrentRevision()
		files, err := projects.Scan(ctx, p.dir, projects.Options{Cache: site.HashCache(p.dir)})
		if err == nil && files.Revision() == revision {
			return revision, codeOf(p.task).Key(files), files, nil
		}
		return revision, revision, nil, nil
	}
	if files, err = m.take(ctx, p.dir); err != nil {
		return "", "", nil, err
	}
	c.noteExcluded(files, p.record(""))
	c.noteOwnFile(files, p.record("").Recipe)
	c.print(unmatchedCode(files, p.task))
	return files.Revision(), codeOf(p.task).Key(files), files, nil
}

// runRemotely is a command whose tasks a master runs. Begin makes the sweep that is followed, or none. Ctrl-C before that is
// an end; after it, it leaves the sweep running, or cancels it with --attached.
func (c *command) runRemotely(ctx *cliv2.Context, m *remote, begin func(context.Context,
	api.Detail) (api.StartedSweep, error)) error {
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	l := displayOptions(ctx)
	b, err := begin(work, l.Detail())
	id := b.ID
	if err != nil && errors.Is(context.Cause(work), cli.ErrInterrupted) {
		return cli.Code(cli.Interrupted)
	}
	if err != nil || id == "" {
		return err
	}
	if l.Quiet {
		fmt.Fprintln(c.stdout, id)
	}
	err = c.watch(work, m, b, l)
	interrupted := errors.Is(context.Cause(work), cli.ErrInterrupted)
	switch {
	case interrupted && !ctx.Bool("attached"):
		c.noteDetached(id)
		return nil
	case interrupted:
		if err := c.cancelAttached(ctx.Context, m, id, l); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	return c.summarize(ctx.Context, m, id, l, interrupted)
}

// cancelAttached ends a sweep whose command was interrupted, and waits for its attempts.
func (c *command) cancelAttached(ctx context.Context, m *remote, id string, l display.Options) error {
	if _, err := m.Cancel(ctx, id); err != nil {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusConflict { // it has ended meanwhile
			return err
		}
	}
	fmt.Fprintf(c.stderr, "%s is cancelled; waiting for what runs, with its grace; Ctrl-C again leaves at once\n", id)
	return c.watch(ctx, m, api.StartedSweep{Summary: core.Summary{ID: id}}, l)
}
