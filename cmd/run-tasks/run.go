package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep"
	"mlframework/sweep/api"
	"mlframework/sweep/master"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
)

// runName is `run-tasks NAME`: a new sweep.
func (c *command) runName(ctx *cliv2.Context) error {
	name, err := argument(ctx)
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
	if err := c.checkPlace(ctx, name); err != nil {
		return err
	}
	at := placeOf(ctx)
	switch {
	case ctx.Bool("dry-run"):
		return c.dryRun(ctx, name)
	case at != inFolder:
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return c.submitTo(ctx, m, name)
	}
	return c.guarded(ctx.Context, func() error { return c.submit(ctx, name) })
}

// checkRunning refuses options that do not go together in commands that run tasks.
func checkRunning(ctx *cliv2.Context) error {
	away := placeOf(ctx) != inFolder
	switch {
	case ctx.Int("slots") < 1:
		return cli.Wrong("", "--slots must be at least 1")
	case away && ctx.IsSet("slots"):
		return cli.Wrong("run-tasks workers slots WORKER N changes those of a worker", "--slots is for runs on this machine")
	case !away && ctx.Bool("attached"):
		return cli.Wrong("on this machine Ctrl-C stops what runs anyway", "--attached is for a master")
	}
	return nil
}

func (c *command) dryRun(ctx *cliv2.Context, name string) error {
	p, err := c.readRunnable(c.projectOf(ctx), name)
	if err != nil {
		return err
	}
	notePlace(ctx, p)
	p.noteUnused(placeOf(ctx))
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
	if err := d.noteFolder(files, placeOf(ctx)); err != nil {
		return err
	}
	if d.where, err = c.slots(ctx, p.dir, p.file); err != nil {
		return err
	}
	c.print(p.notes)
	if !ctx.Bool("as-pushed") {
		c.noteLeftOut(files, p.record("").Recipe)
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
	fmt.Fprintf(c.stderr, "nothing is missing: %s of %s, and each has succeeded\n", combinations(p.space.Len()), p.task.Name)
}

func (c *command) print(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(c.stderr, "note: "+cli.Visible(n))
	}
}

// submit runs a new sweep to its end.
func (c *command) submit(ctx *cliv2.Context, name string) error {
	p, err := c.readRunnable(c.projectOf(ctx), name)
	if err != nil {
		return err
	}
	if err := secretsSet(p.file.Secrets); err != nil {
		return err
	}
	notePlace(ctx, p)
	p.noteUnused(inFolder)
	p.noteShortSecrets()
	c.print(p.notes)
	return c.session(ctx, name, func(work context.Context, r *runner) (string, error) {
		m, err := snapshot(work, p.dir)
		if err != nil {
			return "", err
		}
		c.noteLeftOut(m, p.record("").Recipe)
		c.noteOwnFile(m, p.record("").Recipe)
		if err := checkFolder(m, p.record("").Recipe, inFolder); err != nil {
			return "", err
		}
		s := master.Submission{Record: p.record(m.Revision()), Total: p.space.Len(), Code: codeOf(p.task).Key(m), MinNumber: nextNumber(name)}
		c.print(unmatchedCode(m, p.task))
		if ctx.Bool("missing") {
			found, notes, err := newGap(m, s.Code, p.task, revisionsFolder).narrow(work, &api.Archive{Store: &r.store.Reader}, &s.Record)
			if err != nil {
				return "", err
			}
			c.print(notes)
			if !found {
				c.nothingMissing(p)
				return "", nil
			}
			s.Total = api.Total(s.Record)
		}
		return r.master.Submit(work, s)
	})
}

// session is a runner from its start to its end. Begin makes the sweep that is followed; "" is none.
func (c *command) session(ctx *cliv2.Context, name string, begin func(context.Context, *runner) (string, error)) error {
	c.nameFolder(ctx)
	if err := outputsWritable(); err != nil {
		return storeError(err)
	}
	r, err := newRunner(ctx.Context, name, cli.Log(c.screen))
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(r.ctx, func() { r.leave() })
	defer stop()
	id, err := begin(work, r)
	if err == nil && id != "" {
		err = c.attend(ctx, work, r, id)
	}
	if errors.Is(context.Cause(work), cli.ErrInterrupted) && (errors.Is(err, cli.ErrInterrupted) || errors.Is(err, context.Canceled)) {
		err = cli.Code(cli.Interrupted)
	}
	return r.finish(err)
}

// attend lets the worker work and shows the sweep until it is idle.
func (c *command) attend(ctx *cliv2.Context, work context.Context, r *runner, id string) error {
	l := lookOf(ctx)
	if l.quiet {
		fmt.Fprintln(c.stdout, id)
	}
	watcher, done, err := r.master.Watch(r.ctx, id, l.detail())
	if err != nil {
		return err
	}
	defer done()
	if err := r.work(ctx.Int("slots")); err != nil {
		return err
	}
	r.parts.Go(func() { r.pauseWithoutRoom(id) })
	d := l.open(c.stdout, c.stderr)
	c.screen.set(d.notes())
	interrupted, err := r.watch(work, watcher, id, d)
	d.close()
	c.screen.set(nil)
	if removed, ok := errors.AsType[*store.Removed](cmp.Or(err, r.store.Check())); ok {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("the store of this folder was removed while %s ran: what it held is lost", id),
			Remedy: removed.Path + " is not what it was any more; the outputs stay"}
	}
	if err != nil {
		return err
	}
	src := &here{Archive: &api.Archive{Store: &r.store.Reader}, screen: c.screen}
	err = c.conclude(r.ctx, src, id, l, interrupted)
	if s, failed := src.Sweep(r.ctx, id, false); failed == nil && s.State == sweep.Paused && r.full.Load() && !interrupted {
		return cli.Code(cli.Machine) // the sweep's reason says so
	}
	return err
}

// pauseWithoutRoom pauses a sweep when the disk of outputs is full: nobody else could run it.
func (r *runner) pauseWithoutRoom(id string) {
	select {
	case reason := <-r.noRoom:
		r.full.Store(true)
		if _, err := r.master.Pause(r.ctx, id, reason, false); err != nil && r.ctx.Err() == nil {
			r.log.Warn("the sweep is not paused", "reason", reason, "error", err) // it may have ended
		}
	case <-r.ctx.Done():
	}
}

// watch shows updates until the sweep is idle. The first Ctrl-C pauses it and stops its attempts.
func (r *runner) watch(work context.Context, watcher *master.Watcher, id string, d display) (interrupted bool, err error) {
	for {
		u, err := watcher.Next(work)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			interrupted, work = true, r.ctx
			fmt.Fprintln(d.notes(), "stopping what runs, with its grace; Ctrl-C again leaves at once")
			if _, err := r.master.Pause(r.ctx, id, "interrupted", true); err != nil {
				return interrupted, r.fate(err)
			}
			continue
		case err != nil:
			return interrupted, r.fate(err)
		}
		if err := d.update(u); err != nil {
			return interrupted, err
		}
		if u.Closed {
			return interrupted, r.fate(errors.New("the master has stopped"))
		}
		if u.Idle() {
			return interrupted, nil
		}
	}
}

// finish closes the runner after something was done with it, or failed. That its master could not go on is the better error, but
// for one that says so already.
func (r *runner) finish(err error) error {
	closed := r.close()
	if _, told := errors.AsType[*cli.Error](err); err != nil && !told && r.ended != nil {
		err = r.ended
	}
	return errors.Join(err, closed)
}

// fate is why the master ended, which is the better error.
func (r *runner) fate(err error) error {
	if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// leave is the second Ctrl-C: nothing is waited for, no process stays behind. The store is whole at every moment.
func (r *runner) leave() {
	r.keeper.KillAll()
	os.Exit(cli.Interrupted)
}
