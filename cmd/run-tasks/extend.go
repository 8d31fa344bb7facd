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

func extendCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "extend", Action: extendAction(c),
		ArgsUsage: "[SWEEP] [PARAMETER=VALUE...]",
		Usage:     "add new combinations of parameters to a sweep",
		Flags: append(append(runFlags(), overrideFlags()...), flagDryRun(), flagAll(),
			flagUpdated(),
			&cliv2.StringFlag{Name: "d", DefaultText: "as at submission",
				Usage: "project `FOLDER`"}),
		Description: `Adds the combinations that the parameters file now has and the sweep does not.
Existing tasks keep their numbers and results. New tasks run after them, with
the command, rules and code of the sweep. Values that were removed from the file
stay in the sweep.

PARAMETER=VALUE and the options for parameters change the file as for a new
sweep, on top of those that the sweep was submitted with. Values are set for
this extension only; the options stay for later ones. --limit 0 removes the
limit.

EXAMPLES:
   # after adding values to parameters.yml: what would be added
   run-tasks extend --dry-run
   run-tasks extend run_training-1 lr=0.001`}
}

// extendOptions are the options of `run-tasks extend`.
type extendOptions struct {
	runOptions
	updateOptions
	sweep   string
	change  space.Change
	limited bool // --limit is given
	dryRun  bool
	all     bool
}

// extendAction makes the action of `run-tasks extend`.
func extendAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		o, err := readExtendOptions(ctx)
		if err != nil {
			return err
		}
		src, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer src.close()
		return o.run(ctx.Context, c, src)
	}
}

func readExtendOptions(ctx *cliv2.Context) (o extendOptions, err error) {
	if o.sweep, o.change, err = changeOf(ctx); err != nil {
		return o, err
	}
	if o.runOptions, err = readRunOptions(ctx); err != nil {
		return o, err
	}
	o.updateOptions = updateOptions{updated: ctx.Bool("updated"), dir: ctx.String("d")}
	o.limited, o.dryRun, o.all = ctx.IsSet("limit"), ctx.Bool("dry-run"), ctx.Bool("all")
	if o.all && !o.dryRun {
		return o, cli.Wrong("add --dry-run to see every task that would be added",
			"--all requires --dry-run")
	}
	return o, nil
}

// run adds the new combinations to a sweep, and shows it to its end.
func (o extendOptions) run(ctx context.Context, c *command, src source) error {
	t := &c.terminal
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	e, err := o.read(s)
	if err != nil {
		return err
	}
	m, isRemote := src.(*remote)
	if !isRemote { // without its old files, an edited parameters file looks the same
		e.notes = append(e.notes, e.now.edited(ctx, src)...)
	}
	switch {
	case e.tasks == 0:
		t.note(e.notes...)
		fmt.Fprintf(t.stderr, "%s has every combination of %s already: there is nothing to add\n",
			s.ID, strings.TrimSpace(cli.Visible(s.Record.ParametersFile)+" "+
				typed(e.change.Arguments())))
		return nil
	case o.dryRun:
		t.note(e.notes...)
		return o.show(ctx, t, src, e)
	}
	return run(ctx, c, m, o.runOptions, launch{notes: e.notes, secrets: s.Record.Recipe.Secrets,
		needs: needOfSweep(s), typed: s.Record.CommandLine, begin: o.begin(t, e)})
}

// begin returns what extends a sweep at a backend.
func (o extendOptions) begin(t *terminal, e extension) func(context.Context, backend,
	api.Detail) (api.StartedSweep, error) {
	s, toNote := e.sweep, e.now.updated
	return func(ctx context.Context, at backend, d api.Detail) (b api.StartedSweep, err error) {
		if toNote {
			toNote = false
			t.say(e.now.excludedRemarks(ctx, t.self)...)
		}
		if err := at.accepts(ctx, e.now.dir, e.now.file); err != nil {
			return b, err
		}
		g, err := e.now.bring(ctx, at)
		if err != nil {
			return b, err
		}
		by := e.by
		by.Continuation, by.KeepGoing = g.Continuation, o.keepGoing
		return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
			error) {
			by.Secrets = v
			return at.client().Extend(ctx, s.ID, by, d)
		})
	}
}

// read compares what the project's parameters are now, as the overrides of a sweep and a
// change of those make them, with those of the sweep. The sweep keeps the options of the change,
// and not the values that it sets: those are of this extension.
func (o extendOptions) read(s api.Sweep) (e extension, err error) {
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
	if e.now, err = o.project(s); err != nil {
		return e, err
	}
	e.change = o.overrides(r.Overrides)
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
	o.change.Set = nil
	kept := o.overrides(r.Overrides)
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

// overrides are those with which a sweep is extended: its own, but for what is given now.
func (o extendOptions) overrides(was *space.Change) space.Change {
	if was == nil {
		return o.change
	}
	all := was.Then(o.change)
	if o.limited {
		all.Limit = o.change.Limit
	}
	return all
}

// show shows what would be added.
func (o extendOptions) show(ctx context.Context, t *terminal, src source,
	e extension) (err error) {
	d := dryRun{name: e.sweep.ID, record: e.record, first: e.sweep.Total, total: e.tasks,
		more: true, all: o.all,
		spaces: e.record.Extensions[len(e.sweep.Record.Extensions):]}
	if f := e.record.Recipe.File; f != nil {
		if d.config, err = os.ReadFile(filepath.Join(e.now.dir,
			filepath.FromSlash(f.From))); err != nil {
			return err
		}
	}
	d.where, err = places(ctx, t, src, o.runOptions, e.now.dir, e.now.file, needOfSweep(e.sweep))
	if err != nil {
		return err
	}
	return d.write(t.stdout, o.look.JSON)
}
