package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
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
	notes   []string // for the user to read before anything runs
	secrets []string // that its tasks get
	needs   hostNeed // of its tasks
	// begin has a backend do it; a StartedSweep without an id: there is nothing to do
	begin   func(context.Context, backend, api.Detail) (api.StartedSweep, error)
	earlier *[]string // sweeps with results that --missing left out; nil: none
	typed   bool      // the command is not in tasks.yml
}

// session is one command that has a sweep run, and shows it to its end.
type session struct {
	*terminal
	runOptions
	launch
	c     *command
	sweep string       // once it is known
	halt  func() error // stops the sweep on the first Ctrl-C; nil: it is left running
	// stops it on the second; nil: not
	kill atomic.Pointer[func()]
}

// run runs a launch at a master, or, without one, in this folder, where that takes the values of
// secrets from the environment.
func run(ctx context.Context, c *command, m *remote, o runOptions, l launch) error {
	s := &session{terminal: &c.terminal, runOptions: o, launch: l, c: c}
	if m == nil {
		return s.inFolder(ctx)
	}
	s.note(l.notes...)
	if o.attached {
		s.halt = func() error { return s.cancelAttached(ctx, m) }
	}
	work, stop := cli.Interrupts(ctx, s.leave)
	defer stop()
	return s.on(ctx, work, m, func(b api.StartedSweep) { s.noteGPUsOf(work, m, b) })
}

// inFolder has the launch run by the runner of this folder.
func (s *session) inFolder(ctx context.Context) error {
	if err := secretsSet(s.secrets); err != nil {
		return err
	}
	here, err := thisMachine(ctx, s.runOptions, s.needs) // where tasks run
	if err != nil {
		return err
	}
	s.note(s.notes...)
	s.c.nameFolder(s.local)
	if err := local.CheckOutputs(); err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx, s.leave)
	defer stop()
	h, err := s.c.attach(work, s.runner)
	if isInterrupted(work) && err != nil {
		return cli.Code(cli.Interrupted)
	} else if err != nil {
		return err
	}
	defer func() {
		if !s.detach && !h.idle && (s.sweep != "" || isInterrupted(work)) {
			h.abandon()
		}
		_ = h.close() // it was only read
	}()
	return h.explain(s.onRunner(ctx, work, h, here))
}

// onRunner has the runner of this folder do the launch.
func (s *session) onRunner(life, work context.Context, h *localFolder, here core.Worker) error {
	before, err := s.beside(work, h.api)
	if err != nil {
		return err
	}
	if !s.detach {
		h.api.Attachment = h.attached.ID
		s.halt = func() error {
			fmt.Fprintln(s.messages, s.stopping())
			return h.attached.Interrupt(s.sweep, false)
		}
	}
	attached := h.attached
	return s.on(life, work, h, func(b api.StartedSweep) {
		s.kill.Store(new(func() {
			if attached.Interrupt(b.ID, true) == nil {
				fmt.Fprintf(s.messages, "killed the tasks of %s; to continue: %s resume %[1]s\n", b.ID,
					s.self)
			}
		}))
		if note := before.text(b.ID); note != "" && !s.look.JSON && !s.look.Quiet {
			s.messages.Note(note)
		}
		if note := s.needs.slotsNote(here, b); note != "" {
			s.messages.Note(note)
		}
		s.noteUnusedGPUs(work, b)
		s.noteBusyGPUs(here)
	})
}

// stopping is what the first Ctrl-C says.
func (s *session) stopping() string {
	return "stopping " + s.sweep + "; press Ctrl-C again to kill its tasks now"
}

// on has a backend do the launch, and shows the sweep until it is idle. Begun is called once it has
// begun.
func (s *session) on(life, work context.Context, at backend, begun func(api.StartedSweep)) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // the sweep does not end with its reader
	b, err := s.start(work, at)
	switch {
	case err != nil && isInterrupted(work):
		return cli.Code(cli.Interrupted)
	case err != nil || b.ID == "":
		return err
	case begun != nil:
		begun(b)
	}
	if s.detach {
		s.detached(b)
		return nil
	}
	interrupted, err := s.show(work, life, at, b)
	if h, ok := at.(*localFolder); ok {
		if ended := h.runnerEnded(life, s.c, s.sweep); ended != nil {
			return ended
		}
	}
	switch {
	case err != nil:
		return err
	case interrupted && s.halt == nil:
		s.noteDetached(s.sweep)
		return nil
	}
	return s.conclude(life, at, interrupted)
}

// detached says, once for programs and once for people, which sweep was started.
func (s *session) detached(b api.StartedSweep) {
	switch {
	case s.look.JSON:
		fmt.Fprintf(s.stdout, "{\"id\":%q}\n", b.ID)
	case !s.look.Quiet: // else start has printed it
		fmt.Fprintln(s.stdout, b.ID)
		fmt.Fprintf(s.stderr, "%s is running in the background: %s\nfollow: %s follow %[1]s\n"+
			"cancel: %[3]s cancel %[1]s\n", b.ID, human.Plural(b.Total, "task"), s.self)
	}
}

// start has the launch begun, and notes its sweep.
func (s *session) start(work context.Context, at backend) (api.StartedSweep, error) {
	b, err := s.begin(work, at, s.look.Detail())
	if err != nil || b.ID == "" {
		return api.StartedSweep{}, s.needs.explain(err)
	}
	if s.look.Quiet {
		fmt.Fprintln(s.stdout, b.ID)
	}
	s.sweep = b.ID
	return b, nil
}

// show shows the sweep until it is idle, or life ends. When Ctrl-C ends work, halt stops the sweep,
// and it is shown to that end.
func (s *session) show(work, life context.Context, at source, b api.StartedSweep) (interrupted bool,
	err error) {
	if s.halt == nil {
		err := s.watchOrWait(work, at, b)
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
		interrupted = true
		if err := s.halt(); err != nil {
			fail(err)
		}
	})
	err = s.watchOrWait(following, at, b)
	if !forget() {
		<-stopped
	}
	return interrupted, err
}

// watchOrWait shows the sweep, and once standard output has no reader any more, as after
// `run-tasks NAME | head`, only waits for it.
func (s *session) watchOrWait(ctx context.Context, at source, b api.StartedSweep) error {
	err := watch(ctx, s.terminal, at, b, s.look, s.typed)
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.EIO) { // EIO: of a terminal
		return err
	}
	if s.stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return err
	}
	return at.follow(ctx, api.StartedSweep{Summary: b.Summary}, api.DetailCounts,
		func(api.Update) error { return nil })
}

// isInterrupted reports whether Ctrl-C ended a context.
func isInterrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), cli.ErrInterrupted)
}

// conclude says how the sweep stands, and returns the error that gives the exit code.
func (s *session) conclude(ctx context.Context, src source, interrupted bool) error {
	var earlier []string
	if s.earlier != nil {
		earlier = *s.earlier
	}
	err := summarize(ctx, s.terminal, src, s.sweep, s.look, earlier, interrupted)
	now, failed := src.Sweep(ctx, s.sweep, false)
	if failed == nil && !interrupted && now.State == core.Paused && now.Reason != nil &&
		strings.HasPrefix(*now.Reason, task.NoSpaceReason) {
		return cli.Code(cli.Machine) // the reason says so
	}
	return err
}

// leave is the second Ctrl-C: nothing is waited for.
func (s *session) leave() {
	if kill := s.kill.Load(); kill != nil {
		(*kill)()
	}
	os.Exit(cli.Interrupted)
}

// cancelAttached ends a sweep of a master whose command was interrupted.
func (s *session) cancelAttached(ctx context.Context, m *remote) error {
	_, err := m.Cancel(ctx, s.sweep)
	e, refused := errors.AsType[*api.Error](err)
	if err != nil && !(refused && e.Status == http.StatusConflict) { // it has ended meanwhile
		return err
	}
	fmt.Fprintf(s.messages, "%s is cancelled; waiting for its running tasks to stop; press Ctrl-C "+
		"again to quit now\n", s.sweep)
	return nil
}
