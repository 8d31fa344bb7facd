package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/query"
	"mlframework/sweep/store"
	"mlframework/sweep/worker"
)

// sweepActions are the actions of a runner on sweeps. *api.Client calls a runner in another process, direct
// the one in this process.
type sweepActions interface {
	queries
	Submit(ctx context.Context, s api.Submission, key string, f api.Detail) (api.StartedSweep,
		error)
	Resume(ctx context.Context, id string, g api.ResumeRequest, f api.Detail) (api.StartedSweep,
		error)
	Retry(ctx context.Context, id string, g api.ResumeRequest, f api.Detail) (api.StartedSweep,
		error)
	Extend(ctx context.Context, id string, e api.Extension, f api.Detail) (api.StartedSweep, error)
}

// errand is what a command has done, and shows to its end: a sweep that begins or goes on.
type errand struct {
	// a StartedSweep without an id: nothing
	do         func(context.Context, sweepActions, api.Detail) (api.StartedSweep, error)
	repeatable bool // doing it twice is as doing it once
}

// session is one command that runs a sweep in this folder. One process at a time is the runner of a folder; the commands of others
// have theirs done by it. When a runner ends before their sweeps, one of them is the next.
type session struct {
	*command
	ctx  *cliv2.Context
	name string // of what it runs, for others
	errand
	sweep  string // once it is known
	look   display.Options
	runner atomic.Pointer[runner] // nil: this process is none
	stop   func()                 // ends the watching for Ctrl-C
}

func (c *command) session(ctx *cliv2.Context, name string, e errand) error {
	c.nameFolder(ctx)
	if err := outputsWritable(); err != nil {
		return storeError(err)
	}
	s := &session{command: c, ctx: ctx, name: name, errand: e, look: displayOptions(ctx)}
	work, stop := cli.Interrupts(ctx.Context, s.leave)
	s.stop = stop
	defer func() { s.stop() }()
	for {
		r, err := s.take(work)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			if s.sweep != "" {
				fmt.Fprintf(s.stderr, "%s runs no more, unless another terminal took it over: %s resume %s goes on\n", s.sweep, s.self, s.sweep)
			}
			return cli.Code(cli.Interrupted)
		case err != nil:
			return err
		case r != nil:
			return s.lead(work, r)
		}
		if ended, err := s.join(work); ended {
			return err
		}
	}
}

// Waiting for a runner that has the store and cannot be asked: one that begins, or ends.
const (
	storeLook = 20 * time.Millisecond
	storeTell = time.Second
	storeTime = 5 * time.Second
)

// take makes this process the runner of the folder. It returns nil when there is one that can be asked. One that ends is waited
// for, for as long as that takes when the sweep is in the store already.
func (s *session) take(ctx context.Context) (*runner, error) {
	told := false
	for begun := time.Now(); ; {
		if alive() {
			return nil, nil
		}
		if err := s.kept(ctx); err != nil {
			return nil, err
		}
		r, err := newRunner(s.ctx.Context, s.name, cli.Log(s.messages))
		inUse, is := errors.AsType[*store.InUse](err)
		switch {
		case !is:
			return r, err
		case s.sweep == "" && time.Since(begun) > storeTime && !alive():
			return nil, err
		case !told && time.Since(begun) > storeTell:
			told = true
			s.messages.Note("waiting for the end of " + strings.TrimPrefix(inUse.Error(), "the store is in use by "))
		}
		select {
		case <-time.After(storeLook):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// kept refuses to go on with a sweep whose store was removed.
func (s *session) kept(ctx context.Context) error {
	if s.sweep == "" {
		return nil
	}
	h, err := s.openFolder(ctx)
	if err == nil {
		_, err = h.reader.Sweep(ctx, s.sweep)
		_ = h.close() // it was only read
	}
	_, unknown := errors.AsType[*store.UnknownSweep](err)
	if e, none := errors.AsType[*cli.Error](err); unknown || none && e.Code == cli.Usage {
		return removedError(s.sweep, "its folder, "+storeFolder+", is another one now")
	}
	return err
}

// goOn resumes a session's sweep after its runner ended, unless the sweep has ended or was resumed.
func (s *session) goOn() errand {
	return errand{repeatable: true, do: func(ctx context.Context, m sweepActions,
		f api.Detail) (api.StartedSweep, error) {
		now, err := m.Sweep(ctx, s.sweep, false)
		if err != nil || now.State != core.Paused {
			return api.StartedSweep{Summary: now.Summary}, err
		}
		return m.Resume(ctx, s.sweep, api.ResumeRequest{}, f)
	}}
}

// began notes the sweep, when it is known.
func (s *session) began(b api.StartedSweep) {
	if s.sweep == "" && s.look.Quiet {
		fmt.Fprintln(s.stdout, b.ID)
	}
	s.sweep = b.ID
}

// leave is the second Ctrl-C.
func (s *session) leave() {
	if r := s.runner.Load(); r != nil {
		r.leave()
	}
	os.Exit(cli.Interrupted)
}

// lead is the session of a runner, from its start to its end.
func (s *session) lead(work context.Context, r *runner) error {
	s.runner.Store(r)
	if s.sweep != "" {
		s.messages.Note(s.sweep + " runs in this terminal from now on; Ctrl-C stops it")
	}
	inner, end := r.within(work)
	defer end()
	b, err := s.do(inner, newDirect(r), "")
	if err == nil && b.ID != "" {
		s.began(b)
		err = s.attend(inner, r)
	}
	if errors.Is(context.Cause(inner), cli.ErrInterrupted) && (errors.Is(err, cli.ErrInterrupted) || errors.Is(err, context.Canceled)) {
		err = cli.Code(cli.Interrupted)
	}
	if _, told := errors.AsType[*cli.Error](err); told || err == nil {
		s.stay(r)
	}
	return r.finish(err)
}

// within returns a context that ends with another, and with the runner.
func (r *runner) within(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return inner, func() { stop(); cancel(nil) }
}

// attend lets the worker work and shows the sweep until it is idle.
func (s *session) attend(work context.Context, r *runner) error {
	watcher, done, err := r.master.Watch(r.ctx, s.sweep, s.look.Detail())
	if err != nil {
		return err
	}
	defer done()
	if err := r.work(s.ctx.Int("slots")); err != nil {
		return err
	}
	r.parts.Go(r.pauseWithoutRoom)
	d := s.look.Open(s.stdout, s.stderr)
	s.messages.Redirect(d.Notes())
	interrupted, err := r.watch(work, watcher, s.sweep, d, s.command)
	d.Close()
	s.messages.Redirect(nil)
	if removed, ok := errors.AsType[*store.Removed](cmp.Or(err, r.store.Check())); ok {
		return removedError(s.sweep, removed.Path+" is not what it was any more")
	}
	if err != nil {
		return err
	}
	return s.conclude(r.ctx, &localFolder{Archive: &query.Archive{Store: &r.store.Reader},
		messages: s.messages}, interrupted)
}

// conclude says how the sweep stands, and returns the error that gives the exit code.
func (s *session) conclude(ctx context.Context, src source, interrupted bool) error {
	err := s.command.summarize(ctx, src, s.sweep, s.look, interrupted)
	now, failed := src.Sweep(ctx, s.sweep, false)
	if failed == nil && !interrupted && now.State == core.Paused && now.Reason != nil && strings.HasPrefix(*now.Reason, worker.NoSpaceReason) {
		return cli.Code(cli.Machine) // the reason says so
	}
	return err
}

// pauseWithoutRoom pauses all running sweeps when the output disk is full: there is no other worker.
func (r *runner) pauseWithoutRoom() {
	select {
	case reason := <-r.noRoom:
		r.pauseAll(reason)
	case <-r.ctx.Done():
	}
}

// pauseAll pauses every sweep that runs.
func (r *runner) pauseAll(reason string) {
	for _, id := range r.running() {
		if _, err := r.master.Pause(r.ctx, id, reason, false); err != nil && r.ctx.Err() == nil {
			r.log.Warn("the sweep is not paused", "sweep", id, "reason", reason, "error", err) // it may have ended
		}
	}
}

// running lists the sweeps that run, or are about to.
func (r *runner) running() (ids []string) {
	stored, _, err := r.store.Unended(r.ctx)
	if err != nil && r.ctx.Err() == nil {
		r.log.Warn("whether other sweeps run is not known", "error", err)
	}
	for _, s := range stored {
		if listedAsRunning(s.Head) {
			ids = append(ids, s.Head.ID)
		}
	}
	return ids
}

// watch shows updates until the sweep is idle. The first Ctrl-C pauses it and stops its attempts.
func (r *runner) watch(work context.Context, watcher *master.Watcher, id string, d display.Display, c *command) (interrupted bool, err error) {
	told := false
	for {
		u, err := watcher.Next(work)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			interrupted, work = true, r.ctx
			fmt.Fprintln(d.Notes(), "stopping what runs, with its grace; Ctrl-C again leaves at once")
			if _, err := r.master.Pause(r.ctx, id, "interrupted", true); err != nil {
				return interrupted, r.exitErr(err)
			}
			continue
		case err != nil:
			return interrupted, r.exitErr(err)
		}
		c.warnFirst(d, u, &told)
		if err := d.Update(u); err != nil {
			return interrupted, err
		}
		if u.Closed {
			return interrupted, r.exitErr(errors.New("the master has stopped"))
		}
		if u.Idle() {
			return interrupted, nil
		}
	}
}

// stay keeps the runner while it runs sweeps of other terminals, and says so. The first Ctrl-C ends that.
func (s *session) stay(r *runner) {
	others := r.running()
	if len(others) == 0 {
		return
	}
	work, stop := cli.Interrupts(r.ctx, r.leave)
	s.stop() // what was interrupted before is the sweep of this terminal
	s.stop = stop
	n := len(others)
	s.messages.Note(fmt.Sprintf("%s of another terminal still %s in this process, which ends after that; Ctrl-C ends it now, and %s on in the other terminal, "+
		"where tasks that run begin again", enumerated(others), pick(n, "runs", "run"), pick(n, "it goes", "they go")))
	for ; len(others) > 0; others = r.running() {
		if !r.idle(work, others[0]) {
			break
		}
	}
	if errors.Is(context.Cause(work), cli.ErrInterrupted) {
		fmt.Fprintln(s.stderr, "stopping what runs, with its grace; Ctrl-C again leaves at once")
	}
}

// idle waits until a sweep is idle. It is false when ctx ended before.
func (r *runner) idle(ctx context.Context, id string) bool {
	watcher, done, err := r.master.Watch(r.ctx, id, api.DetailCounts)
	if err != nil {
		return false
	}
	defer done()
	for {
		u, err := watcher.Next(ctx)
		if err != nil || u.Closed {
			return false
		}
		if u.Idle() {
			return true
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

// exitErr is why the master ended, which is the better error.
func (r *runner) exitErr(err error) error {
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
