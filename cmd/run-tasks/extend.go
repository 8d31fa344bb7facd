package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
)

func extendCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "extend", Action: extendAction(c),
		ArgsUsage: "[SWEEP] [PARAMETER=VALUE...]",
		Usage:     "add new combinations of parameters to a sweep",
		Flags: append(append(runFlags(), overrideFlags()...), flagDryRun(), flagAll(),
			flagUpdated()),
		Description: `Adds the combinations in the parameters file that the sweep does not have yet.
Existing tasks keep their numbers and results. New tasks run after them, with
the sweep's command, rules and code. Values removed from the file stay in the
sweep.

PARAMETER=VALUE and the parameter options override the file as for a new sweep,
in addition to the overrides that the sweep was submitted with. PARAMETER=VALUE
applies to this extension only. The options also apply to later extensions.
--limit 0 removes the limit.

EXAMPLES:
   # show what would be added after a change to parameters.yml
   run-tasks extend --dry-run
   run-tasks extend run_training-1 lr=0.001`}
}

// extendOptions are the options of `run-tasks extend`.
type extendOptions struct {
	runOptions
	project.Update
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
	o.Update = project.Update{Updated: ctx.Bool("updated"), Dir: ctx.String("d")}
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
	e, err := o.Extension(s, o.change, o.limited)
	if err != nil {
		return err
	}
	m, isRemote := src.(*remote)
	if !isRemote { // without its old files, an edited parameters file looks the same
		e.Notes = append(e.Notes, edited(ctx, src, e.Now)...)
	}
	switch {
	case e.Tasks == 0:
		t.note(e.Notes...)
		fmt.Fprintf(t.stderr, "%s has every combination of %s already: there is nothing to add\n",
			s.ID, strings.TrimSpace(cli.Visible(s.Record.ParametersFile)+" "+
				project.Words(e.Change.Arguments())))
		return nil
	case o.dryRun:
		t.note(e.Notes...)
		return o.show(ctx, t, src, e)
	}
	return run(ctx, c, m, o.runOptions, launch{notes: e.Notes, secrets: s.Record.Recipe.Secrets,
		needs: needOfSweep(s), typed: s.Record.CommandLine, begin: o.begin(t, e)})
}

// begin returns what extends a sweep at a backend.
func (o extendOptions) begin(t *terminal, e project.Extension) func(context.Context, backend,
	api.Detail) (api.StartedSweep, error) {
	s, toNote := e.Sweep, e.Now.Updated
	return func(ctx context.Context, at backend, d api.Detail) (b api.StartedSweep, err error) {
		if toNote {
			toNote = false
			t.say(e.Now.Remarks(ctx, t.self)...)
		}
		if err := at.accepts(ctx, e.Now.Dir, e.Now.File); err != nil {
			return b, err
		}
		g, err := e.Now.Bring(ctx, at.take)
		if err != nil {
			return b, err
		}
		by := e.By
		by.Continuation, by.KeepGoing = g.Continuation, o.keepGoing
		return withSecrets(s.Record.Recipe.Secrets, func(v secret.Values) (api.StartedSweep,
			error) {
			by.Secrets = v
			return at.client().Extend(ctx, s.ID, by, d)
		})
	}
}

// show shows what would be added.
func (o extendOptions) show(ctx context.Context, t *terminal, src source,
	e project.Extension) (err error) {
	d := dryRun{name: e.Sweep.ID, record: e.Record, first: e.Sweep.Total, total: e.Tasks,
		more: true, all: o.all,
		spaces: e.Record.Extensions[len(e.Sweep.Record.Extensions):]}
	if f := e.Record.Recipe.File; f != nil {
		if d.config, err = os.ReadFile(filepath.Join(e.Now.Dir,
			filepath.FromSlash(f.From))); err != nil {
			return err
		}
	}
	d.where, err = places(ctx, t, src, o.runOptions, e.Now.Dir, e.Now.File, needOfSweep(e.Sweep))
	if err != nil {
		return err
	}
	return d.write(t.stdout, o.look.JSON)
}
