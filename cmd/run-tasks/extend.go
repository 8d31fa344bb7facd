package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
)

// extension is a sweep and what its project's parameters have more.
type extension struct {
	sweep  api.Sweep
	now    currentProject
	notes  []string // for the user to read before anything runs
	by     api.Extension
	record core.Record // with it
	tasks  int64       // that it adds
}

// extend is `run-tasks extend`.
func (c *command) extend(ctx *cliv2.Context) error {
	id, change, err := changeOf(ctx)
	if err != nil {
		return err
	}
	if err := checkRunning(ctx); err != nil {
		return err
	}
	if ctx.Bool("all") && !ctx.Bool("dry-run") {
		return cli.Wrong("add --dry-run to see every task that would be added", "--all is for --dry-run")
	}
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	e, err := c.readExtension(ctx, s, change)
	switch {
	case err != nil:
		return err
	case e.tasks == 0:
		c.print(e.notes)
		fmt.Fprintf(c.stderr, "%s has every combination of %s already: there is nothing to add\n", s.ID,
			strings.TrimSpace(cli.Visible(s.Record.ParametersFile)+" "+typed(e.by.Overrides.Arguments())))
		return nil
	case ctx.Bool("dry-run"):
		c.print(e.notes)
		return c.dryExtend(ctx, e)
	}
	if m, ok := src.(*remote); ok {
		c.print(e.notes)
		return c.runRemotely(ctx, m, func(work context.Context, f api.Detail) (none api.StartedSweep,
			err error) {
			if err := m.ready(work); err != nil {
				return none, err
			}
			if err := m.fits(work, e.now.dir, e.now.file); err != nil {
				return none, err
			}
			if e.by, err = e.bring(work, m.take); err != nil {
				return none, err
			}
			return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
				error) {
				e.by.Secrets = v
				return m.Extend(work, s.ID, e.by, f)
			})
		})
	}
	return c.extendHere(ctx, e)
}

// readExtension compares what the project's parameters are now, as the overrides of a sweep and a change of those make them, with
// those of the sweep.
func (c *command) readExtension(ctx *cliv2.Context, s api.Sweep, change space.Change) (e extension, err error) {
	r := s.Record
	if r.EachWorker || r.ParametersFile == "" {
		return e, cli.Wrong("submit it again instead", "%s is a sweep without a parameters file: there is nothing to extend it by", s.ID)
	}
	if s.State == core.Cancelled {
		return e, &core.WrongState{ID: s.ID, Is: "cancelled", Remedy: "`run-tasks retry " + s.ID + "` runs what was cancelled; then it can be extended"}
	}
	e.sweep = s
	if e.now, err = c.currentProjectOf(ctx, s); err != nil {
		return e, err
	}
	p := &project{task: definition.Task{Name: s.Definition, Parameters: r.ParametersFile}, change: overridesOf(ctx, r.Overrides, change)}
	if err := p.readParameters(e.now.dir); err != nil {
		return e, e.now.unreadable(err)
	}
	e.notes = append(p.notes, e.now.notes()...)
	if r.Overrides != nil {
		e.notes = append(e.notes, s.ID+" is extended with "+typed(p.change.Arguments()))
	}
	e.by.Space, e.by.Overrides = p.space, &p.change
	if err := checkInputsOf(s.ID, e.now.dir, e.now.record(r), p.space); err != nil {
		return e, err
	}
	if e.record, e.tasks, err = r.Extended(p.space); err != nil {
		err = cli.Wrong("submit what is new as a sweep of its own", "%s cannot be extended: %w", s.ID, err)
	}
	return e, err
}

// bring is the extension with the project as it is now, when --updated asks for it.
func (e extension) bring(work context.Context, take bringFunc) (api.Extension, error) {
	g, err := e.now.bring(work, take)
	e.by.Revision, e.by.Code, e.by.Settings = g.Revision, g.Code, g.Settings
	return e.by, err
}

// dryExtend shows what would be added.
func (c *command) dryExtend(ctx *cliv2.Context, e extension) (err error) {
	d := dryRun{name: e.sweep.ID, record: e.record, first: e.sweep.Total, total: e.tasks, more: true, all: ctx.Bool("all"),
		spaces: e.record.Extensions[len(e.sweep.Record.Extensions):]}
	if f := e.record.Recipe.File; f != nil {
		if d.config, err = os.ReadFile(filepath.Join(e.now.dir, filepath.FromSlash(f.From))); err != nil {
			return err
		}
	}
	if d.where, err = c.slots(ctx, e.now.dir, e.now.file); err != nil {
		return err
	}
	return c.writeDryRun(ctx, d)
}

// extendHere extends a sweep of this folder, and runs it to its end.
func (c *command) extendHere(ctx *cliv2.Context, e extension) error {
	if err := secretsSet(e.sweep.Record.Recipe.Secrets); err != nil {
		return err
	}
	return c.guarded(ctx.Context, func() error {
		c.print(e.notes)
		do := func(work context.Context, m sweepActions, f api.Detail) (none api.StartedSweep, err error) {
			if e.by, err = e.bring(work, snapshot); err != nil {
				return none, err
			}
			return m.Extend(work, e.sweep.ID, e.by, f)
		}
		return c.session(ctx, ctx.Command.Name+" "+e.sweep.ID, errand{do: do})
	})
}
