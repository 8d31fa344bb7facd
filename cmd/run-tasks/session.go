package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/local"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/task"
)

// backend is a master that runs sweeps for a command: one that a socket leads to, or the runner of
// this folder.
type backend interface {
	source
	// client returns the client of its API.
	client() *api.Client
	// accepts waits for it to be ready, and refuses where its workers are not what tasks.yml of a
	// project says; nil: that does not count.
	accepts(ctx context.Context, dir string, file *definition.File) error
	// take brings the files of a project to where attempts find them.
	take(ctx context.Context, dir string) (*projects.Manifest, error)
	// complete adds to a new sweep what this backend needs to know.
	complete(s *api.Submission) error
}

// launch is what a command has run: a sweep that begins, or goes on.
type launch struct {
	name    string   // of what runs, for other processes
	notes   []string // for the user to read before anything runs
	secrets []string // that its tasks get
	needs   hostNeed // of its tasks
	// begin has a backend do it; a StartedSweep without an id: there is nothing to do
	begin      func(context.Context, backend, api.Detail) (api.StartedSweep, error)
	repeatable bool // doing it twice is as doing it once
}

// session is one command that has a sweep run, and shows it to its end.
type session struct {
	*command
	launch
	ctx    *cliv2.Context
	sweep  string // once it is known
	look   display.Options
	here   core.Worker                  // this machine, where tasks run in this folder
	runner atomic.Pointer[local.Runner] // nil: this process is none
	stop   func()                       // ends the watching for Ctrl-C
}

// run runs a launch at a master, or, without one, in this folder, where that takes the values of
// secrets from the environment.
func (c *command) run(ctx *cliv2.Context, m *remote, l launch) error {
	s := &session{command: c, launch: l, ctx: ctx, look: displayOptions(ctx)}
	if m != nil {
		c.print(l.notes)
		return s.atMaster(m)
	}
	if err := secretsSet(l.secrets); err != nil {
		return err
	}
	return c.guarded(ctx.Context, func() error {
		var err error
		if s.here, err = thisMachine(ctx, l.needs); err != nil {
			return err
		}
		c.print(l.notes)
		return s.inFolder()
	})
}

// start has the launch begun, and notes its sweep.
func (s *session) start(work context.Context, at backend) (api.StartedSweep, error) {
	b, err := s.begin(work, at, s.look.Detail())
	if err != nil || b.ID == "" {
		return api.StartedSweep{}, s.needs.explain(err)
	}
	if s.sweep == "" && s.look.Quiet {
		fmt.Fprintln(s.stdout, b.ID)
	}
	s.sweep = b.ID
	return b, nil
}

// show shows the sweep until it is idle, or life ends. When Ctrl-C ends work, stop stops the sweep,
// and it is shown to that end; without stop it is left running.
func (s *session) show(work, life context.Context, at source, b api.StartedSweep,
	stop func() error) (interrupted bool, err error) {
	if stop == nil {
		err := s.watch(work, at, b, s.look)
		if isInterrupted(work) {
			return true, nil
		}
		return false, err
	}
	following, fail := context.WithCancelCause(life)
	defer fail(nil)
	stopped := make(chan struct{})
	forget := context.AfterFunc(work, func() {
		defer close(stopped)
		if life.Err() != nil {
			return
		}
		interrupted = true
		if err := stop(); err != nil {
			fail(err)
		}
	})
	err = s.watch(following, at, b, s.look)
	if !forget() {
		<-stopped
	}
	return interrupted, err
}

// isInterrupted reports whether Ctrl-C ended a context.
func isInterrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), cli.ErrInterrupted)
}

// conclude says how the sweep stands, and returns the error that gives the exit code.
func (s *session) conclude(ctx context.Context, src source, interrupted bool) error {
	err := s.summarize(ctx, src, s.sweep, s.look, interrupted)
	now, failed := src.Sweep(ctx, s.sweep, false)
	if failed == nil && !interrupted && now.State == core.Paused && now.Reason != nil &&
		strings.HasPrefix(*now.Reason, task.NoSpaceReason) {
		return cli.Code(cli.Machine) // the reason says so
	}
	return err
}

// detached is the end of a session that Ctrl-C took from its sweep.
func (s *session) detached() error {
	if s.sweep == "" {
		return cli.Code(cli.Interrupted)
	}
	s.noteDetached(s.sweep)
	return nil
}

// noteDetached tells who leaves a running sweep how to see it again.
func (c *command) noteDetached(id string) {
	fmt.Fprintf(c.stderr, "%s keeps running; to follow it: %s follow %s\n", id, c.self, id)
}

// leave is the second Ctrl-C: nothing is waited for, no process of a task stays behind.
func (s *session) leave() {
	if r := s.runner.Load(); r != nil {
		r.Kill()
	}
	os.Exit(cli.Interrupted)
}
