package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// inFolder has the launch run in this folder. One process at a time is its runner; commands of
// others have theirs done by it. When a runner ends before their sweeps, one of them is the next.
func (s *session) inFolder() error {
	s.nameFolder(s.ctx)
	if err := local.CheckOutputs(); err != nil {
		return err
	}
	work, stop := cli.Interrupts(s.ctx.Context, s.leave)
	s.stop = stop
	defer func() { s.stop() }()
	for {
		r, err := s.take(work)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			if s.sweep != "" {
				fmt.Fprintf(s.stderr, "%s has stopped, unless another terminal took it over: "+
					"%s resume %s goes on\n", s.sweep, s.self, s.sweep)
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

// take makes this process the runner of the folder. It returns nil when there is one that can be
// asked. One that ends is waited for, for as long as that takes when the sweep is in the store
// already.
func (s *session) take(ctx context.Context) (*local.Runner, error) {
	most := time.Duration(0)
	if s.sweep == "" {
		most = storeTime
	}
	return startRunner(ctx, s.name, s.messages, most, s.kept)
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
		return removedError(s.sweep, "its folder, "+local.StoreFolder+", is another one now")
	}
	return err
}

// goOn resumes a session's sweep after its runner ended, unless the sweep has ended or was resumed.
// The next runner's master pauses what the last one left open when it loads the store. It answers
// for its workers only after that, for sweeps also before.
func (s *session) goOn(ctx context.Context, at backend, f api.Detail) (api.StartedSweep, error) {
	m := at.client()
	if _, err := m.Workers(ctx); err != nil {
		return api.StartedSweep{}, err
	}
	now, err := m.Sweep(ctx, s.sweep, false)
	if err != nil || now.State != core.Paused {
		return api.StartedSweep{Summary: now.Summary}, err
	}
	return m.Resume(ctx, s.sweep, api.ResumeRequest{}, f)
}

// lead is the session of a runner, from its start to its end.
func (s *session) lead(work context.Context, r *local.Runner) error {
	s.runner.Store(r)
	if s.sweep != "" {
		s.messages.Note(s.sweep + " runs in this terminal from now on; Ctrl-C stops it")
	}
	inner, end := r.Within(work)
	defer end()
	h := s.newFolder(r.Archive())
	h.runner = r
	err := s.runOwn(inner, h)
	_ = h.close() // its client
	if isInterrupted(inner) &&
		(errors.Is(err, cli.ErrInterrupted) || errors.Is(err, context.Canceled)) {
		err = cli.Code(cli.Interrupted)
	}
	if _, told := errors.AsType[*cli.Error](err); r.Works() && (told || err == nil) {
		s.stay(r)
	}
	return r.Close(err)
}

// runOwn has the runner that this process is do the launch, lets it work, and shows the sweep until
// it is idle. The first Ctrl-C pauses it and stops its attempts.
func (s *session) runOwn(work context.Context, h *localFolder) error {
	r := h.runner
	b, err := s.start(work, h)
	if err != nil || b.ID == "" {
		return err
	}
	if note := s.needs.slotsNote(s.here, b); note != "" {
		s.messages.Note(note)
	}
	s.noteUnusedGPUs(work, b)
	busy, err := cli.GPUBusyOf(s.ctx)
	if err != nil {
		return err
	}
	if err := r.Work(s.ctx.Int("slots"), busy); err != nil {
		return err
	}
	interrupted, err := s.show(work, r.Context(), h, b, func() error {
		fmt.Fprintln(s.messages, stopping)
		return r.Interrupt(s.sweep)
	})
	err = r.Err(err)
	if removed, ok := errors.AsType[*store.Removed](err); ok {
		return removedError(s.sweep, removed.Path+" is not what it was any more")
	}
	if err != nil {
		return err
	}
	return s.conclude(r.Context(), h, interrupted)
}

// stopping is what the first Ctrl-C says in the terminal of a runner.
const stopping = "stopping what runs, with its grace; Ctrl-C again leaves at once"

// stay keeps the runner while it runs sweeps of other terminals, and says so. The first Ctrl-C ends
// that. A runner whose worker was never started, as where there was nothing to do, does not stay:
// its end hands the sweeps that it accepted over to the other terminals.
func (s *session) stay(r *local.Runner) {
	others := r.Running()
	if len(others) == 0 {
		return
	}
	work, stop := cli.Interrupts(r.Context(), s.leave)
	s.stop() // what was interrupted before is the sweep of this terminal
	s.stop = stop
	n := len(others)
	s.messages.Note(fmt.Sprintf("%s of another terminal still %s in this process, which ends "+
		"after "+
		"that; Ctrl-C ends it now, and %s on in the other terminal, where tasks that run begin "+
		"again",
		enumerated(others), pick(n, "runs", "run"), pick(n, "it goes", "they go")))
	for ; len(others) > 0; others = r.Running() {
		if !r.AwaitIdle(work, others[0]) {
			break
		}
	}
	if isInterrupted(work) {
		fmt.Fprintln(s.stderr, stopping)
	}
}
