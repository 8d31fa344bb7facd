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
	notes  []string     // for the user to read before anything runs
	change space.Change // of the parameters file
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
		return cli.Wrong("add --dry-run to see every task that would be added",
			"--all requires --dry-run")
	}
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	e, err := c.readExtension(ctx, s, change)
	if err != nil {
		return err
	}
	// without its old files, an edited parameters file looks the same
	if _, is := src.(*remote); !is {
		e.notes = append(e.notes, e.now.edited(ctx.Context, src)...)
	}
	switch {
	case e.tasks == 0:
		c.print(e.notes)
		fmt.Fprintf(c.stderr, "%s has every combination of %s already: there is nothing to add\n",
			s.ID,
			strings.TrimSpace(cli.Visible(s.Record.ParametersFile)+" "+
				typed(e.change.Arguments())))
		return nil
	case ctx.Bool("dry-run"):
		c.print(e.notes)
		return c.dryExtend(ctx, e)
	}
	toNote := e.now.updated
	begin := func(work context.Context, at backend, f api.Detail) (b api.StartedSweep, err error) {
		if toNote {
			toNote = false
			c.noteExcludedNow(work, e.now)
		}
		if err := at.accepts(work, e.now.dir, e.now.file); err != nil {
			return b, err
		}
		g, err := e.now.bring(work, at)
		if err != nil {
			return b, err
		}
		by := e.by
		by.Continuation = g.Continuation
		by.KeepGoing = ctx.Bool("keep-going")
		return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
			error) {
			by.Secrets = v
			return at.client().Extend(work, s.ID, by, f)
		})
	}
	m, _ := src.(*remote)
	return c.run(ctx, m, launch{notes: e.notes, secrets: s.Record.Recipe.Secrets,
		needs: needOfSweep(s), begin: begin})
}

// readExtension compares what the project's parameters are now, as the overrides of a sweep and a
// change of those make them, with those of the sweep. The sweep keeps the options of the change,
// and not the values that it sets: those are of this extension.
func (c *command) readExtension(ctx *cliv2.Context, s api.Sweep, change space.Change) (e extension,
	err error) {
	r := s.Record
	if r.CommandLine && r.Overrides == nil {
		return e, cli.Wrong("run the command again with them", "%s has no parameters that could "+
			"get more values", s.ID)
	}
	if r.EachWorker || r.ParametersFile == "" && !r.CommandLine {
		return e, cli.Wrong("submit it again instead", "%s is a sweep without a parameters file: "+
			"there is nothing to extend it by", s.ID)
	}
	if s.State == core.Cancelled {
		return e, &core.WrongState{ID: s.ID, Is: "cancelled", Remedy: "`run-tasks retry " + s.ID +
			"` runs what was cancelled; then it can be extended"}
	}
	e.sweep = s
	if e.now, err = c.currentProjectOf(ctx, s); err != nil {
		return e, err
	}
	e.change = overridesOf(ctx, r.Overrides, change)
	p := &project{task: definition.Task{Name: s.Definition, Parameters: r.ParametersFile},
		change: e.change}
	if r.CommandLine {
		err = p.setParameters(namesSet(*r.Overrides))
	} else if err = p.readParameters(e.now.dir); err != nil {
		err = e.now.unreadable(err)
	}
	if err != nil {
		return e, err
	}
	if p.space.Counted() && !r.Recipe.CountsRepeats {
		return e, cli.Wrong("submit a new sweep", "%s was submitted without a number of repeats, "+
			"and extend cannot add one", s.ID)
	}
	e.notes = append(p.notes, e.now.notes()...)
	if r.Overrides != nil {
		e.notes = append(e.notes, s.ID+" is extended with "+typed(p.change.Arguments()))
	}
	change.Set = nil
	kept := overridesOf(ctx, r.Overrides, change)
	e.by.Space, e.by.Overrides = p.space, &kept
	if err := checkInputsOf(s.ID, e.now.dir, e.now.record(r), p.space); err != nil {
		return e, err
	}
	if e.record, e.tasks, err = r.Extended(p.space); err != nil {
		err = cli.Wrong("submit what is new as a sweep of its own", "%s cannot be extended: %w",
			s.ID, err)
	}
	return e, err
}

// dryExtend shows what would be added.
func (c *command) dryExtend(ctx *cliv2.Context, e extension) (err error) {
	d := dryRun{name: e.sweep.ID, record: e.record, first: e.sweep.Total, total: e.tasks,
		more: true, all: ctx.Bool("all"),
		spaces: e.record.Extensions[len(e.sweep.Record.Extensions):]}
	if f := e.record.Recipe.File; f != nil {
		if d.config, err = os.ReadFile(filepath.Join(e.now.dir,
			filepath.FromSlash(f.From))); err != nil {
			return err
		}
	}
	if d.where, err = c.places(ctx, e.now.dir, e.now.file, needOfSweep(e.sweep)); err != nil {
		return err
	}
	return c.writeDryRun(ctx, d)
}
