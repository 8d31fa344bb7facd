package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/config"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// submitOptions are the options of `run-tasks NAME` and `run-tasks -- COMMAND`: a new sweep.
type submitOptions struct {
	runOptions
	project.Options
	priority int
	all      bool // with dryRun: every task is shown
	yes      bool // the folder is a project
}

// submitAction makes the action of a new sweep.
func submitAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		if c.argv == nil && ctx.NArg() == 0 && ctx.NumFlags() == 0 {
			return overview(ctx, &c.terminal)
		}
		o, err := readSubmitOptions(ctx, c.argv)
		if err != nil {
			return err
		}
		c.useNewStore(ctx)
		switch {
		case o.DryRun:
			p, err := o.Read()
			if err != nil {
				return err
			}
			if o.at == project.Here && (!o.Missing || !hasSweeps()) {
				return o.show(ctx.Context, &c.terminal, nil, p)
			}
			src, err := c.open(ctx)
			if err != nil {
				return err
			}
			defer src.close()
			return o.show(ctx.Context, &c.terminal, src, p)
		case o.at == project.Here:
			return o.submit(ctx.Context, c, nil)
		}
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return o.submit(ctx.Context, c, m)
	}
}

// readSubmitOptions reads the options of a new sweep, of a definition or of a command that was
// typed after "--".
func readSubmitOptions(ctx *cliv2.Context, argv []string) (o submitOptions, err error) {
	o.Options = project.Options{Argv: argv, Missing: ctx.Bool("missing"),
		AsPushed: ctx.Bool("no-upload"), DryRun: ctx.Bool("dry-run"), As: ctx.String("as"),
		Metrics: ctx.StringSlice("metric"), Objective: ctx.String("objective")}
	o.priority, o.all, o.yes = ctx.Int("priority"), ctx.Bool("all"), ctx.Bool("yes")
	if o.Name, o.Change, err = changeOf(ctx); err != nil {
		return o, err
	}
	switch {
	case argv != nil && o.Name != "":
		return o, cli.Wrong("write NAME, or a command after --, not both",
			"unexpected argument %q", o.Name)
	case argv != nil && len(argv) == 0:
		return o, cli.Wrong("run-tasks -- python3 train.py lr=0.1,0.01",
			"there is no command after --")
	case argv != nil && strings.HasPrefix(argv[0], "-"):
		return o, cli.Wrong("run-tasks -- python3 train.py lr=0.1,0.01", "after -- a program comes "+
			"first, not %s", argv[0])
	case argv == nil && o.Name == "":
		if o.Name, err = onlyDefinition(ctx); err != nil {
			return o, err
		}
	}
	if o.all && !o.DryRun {
		return o, cli.Wrong("add --dry-run to see every task; without it every task is run anyway",
			"--all requires --dry-run")
	}
	if o.runOptions, err = readRunOptions(ctx); err != nil {
		return o, err
	}
	o.Needs = readNeeds(ctx)
	if err := cmp.Or(checkPriority(ctx), o.Needs.Change(&task.Needs{})); err != nil {
		return o, err
	}
	o.Place = o.at
	if argv != nil {
		o.Dir = cmp.Or(ctx.String("d"), ".")
		return o, nil
	}
	for _, name := range []string{"as", "metric", "objective"} {
		if ctx.IsSet(name) {
			return o, cli.Wrong("without one, tasks.yml has flags, metrics and objective",
				"--%s requires a command after --", name)
		}
	}
	o.Dir = projectOf(ctx)
	return o, checkLocation(ctx, o.Name)
}

// show shows what a new sweep of a project would run. Src is nil if that needs no sweeps.
func (o submitOptions) show(ctx context.Context, t *terminal, src source,
	p *project.Project) error {
	p.NoteUnused(o.at)
	d := dryRun{name: p.Task.Name, record: p.Record(""), spaces: []*space.Space{p.Space},
		total: p.Space.Len(), all: o.all, config: p.Config}
	if o.Missing && src != nil {
		if err := onlyMissing(ctx, src, &d, p); err != nil {
			return err
		}
	}
	files, err := p.List(ctx)
	if err != nil {
		return err
	}
	if d.folder, err = project.FolderLines(files, d.record.Recipe, o.at); err != nil {
		return err
	}
	d.where, err = places(ctx, t, src, o.runOptions, p.Dir, p.TasksFile(), needsOf(p))
	if err != nil {
		return err
	}
	t.note(p.Notes...)
	if !o.AsPushed {
		t.say(p.Remarks(files)...)
	}
	if d.total == 0 {
		t.nothingMissing(p)
		return nil
	}
	return d.write(t.stdout, o.look.JSON)
}

func (t *terminal) nothingMissing(p *project.Project) {
	fmt.Fprintf(t.stderr, "nothing is missing: %s of %s, and each has succeeded\n",
		project.TasksOf(p.Space, p.Space.Len()), p.Task.Name)
}

// submit runs a new sweep at a master, or without one in this folder.
func (o submitOptions) submit(ctx context.Context, c *command, m *remote) error {
	p, err := o.Read()
	if err != nil {
		return err
	}
	if p.Typed {
		if err := o.checkProjectFolder(ctx, &c.terminal, p); err != nil {
			return err
		}
	}
	if err := secretsSet(p.File.Secrets); err != nil {
		return err
	}
	if o.at == project.Here && !o.local && !o.look.Quiet && !o.look.JSON && !hasSweeps() {
		p.Notes = slices.Insert(p.Notes, 0, fmt.Sprintf("running on this machine (no %s in this "+
			"folder or above); infrainit sets up a cluster", config.FileName))
	}
	p.NoteUnused(o.at)
	p.NoteShortSecrets()
	s := submission{submitOptions: o, terminal: &c.terminal, project: p}
	return run(ctx, c, m, o.runOptions, launch{notes: p.Notes, secrets: p.File.Secrets,
		needs: needsOf(p), earlier: &s.earlier, typed: p.Typed, begin: s.begin})
}

// submission submits a sweep of a project.
type submission struct {
	submitOptions
	*terminal
	project *project.Project
	earlier []string // sweeps with the combinations that --missing leaves out
}

// begin submits the sweep to a backend, unless nothing of it is missing.
func (s *submission) begin(ctx context.Context, at backend,
	d api.Detail) (b api.StartedSweep, err error) {
	made, err := s.prepare(ctx, at)
	if made == nil || err != nil {
		return b, err
	}
	if err := at.complete(made); err != nil {
		return b, err
	}
	return at.client().Submit(ctx, *made, "", d)
}

// prepare brings the project's files to where attempts find them, and returns the new sweep; nil
// if nothing of it is missing.
func (s *submission) prepare(ctx context.Context, at backend) (*api.Submission, error) {
	p := s.project
	if err := s.checkFiles(ctx); err != nil {
		return nil, err
	}
	if err := at.accepts(ctx, p.Dir, p.TasksFile()); err != nil {
		return nil, err
	}
	revision, code, files, err := s.bring(ctx, at)
	if err != nil {
		return nil, err
	}
	made := &api.Submission{Record: p.Record(revision), Code: code}
	made.Record.Priority = s.priority
	made.Record.KeepGoing = made.Record.KeepGoing || s.keepGoing
	if !s.Missing {
		return made, nil
	}
	revisions, err := revisionsOf(ctx, at)
	if err != nil {
		return nil, err
	}
	found, others, notes, err := project.NewGap(files, code, p, revisions).Narrow(ctx, at, &made.Record)
	if err != nil {
		return nil, err
	}
	s.earlier = others
	s.note(notes...)
	if !found {
		s.nothingMissing(p)
		return nil, nil
	}
	return made, nil
}

// checkFiles says which of the project's files tasks do not get, and refuses what is wrong with the
// folders that they would get.
func (s *submission) checkFiles(ctx context.Context) error {
	m, err := s.project.List(ctx)
	if err != nil {
		return err
	}
	if !s.AsPushed {
		s.say(s.project.Remarks(m)...)
	}
	return project.CheckFolder(m, s.project.Record("").Recipe, s.at)
}

// bring lets attempts find the project's files: as they are now, or as a cluster was brought them
// last. It returns their revision, the hash of their code, and the files. Those that are not here
// are nil, and the revision stands for the hash of their code.
func (s *submission) bring(ctx context.Context, at backend) (revision, code string,
	files *projects.Manifest, err error) {
	p := s.project
	if m, ok := at.(*remote); ok && s.AsPushed {
		if revision, files = m.cluster.asPushed(ctx, p.Dir); files == nil {
			return revision, revision, nil, nil
		}
	} else if files, err = at.take(ctx, p.Dir); err != nil {
		return "", "", nil, err
	}
	return files.Revision(), project.CodeOf(p.Task, p.Space).Key(files), files, nil
}
