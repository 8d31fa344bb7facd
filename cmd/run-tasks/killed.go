package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// unsettled is why a sweep does not run that the store has as running, where that cannot be corrected.
const unsettled = "its run was killed; the store is not writable and still lists tasks as running"

// standing returns a function that corrects a sweep which the store has as running while no runner lives: a run that was
// killed could not record its end. The correction is stored once, as the next run would store it.
func standing(r *store.Reader) func(context.Context, *core.Head) error {
	var ( // one try settles all sweeps
		once    sync.Once
		settled bool
		failed  error
	)
	return func(ctx context.Context, h *core.Head) error {
		if !runs(*h) || alive() {
			return nil
		}
		once.Do(func() { settled, failed = settle(ctx) })
		switch {
		case failed != nil && h.State == core.Open:
			h.State, h.Reason = core.Paused, unsettled
			return nil
		case failed != nil || !settled: // who holds the store now sees to it
			return nil
		}
		anew, err := r.Head(ctx, h.ID)
		if err == nil {
			*h = anew
		}
		return err
	}
}

// executorKilled is the error of a run whose executor was killed alone: what is kept of its sweeps, and the way on.
func (c *command) executorKilled(ctx context.Context, killed *process.Killed) error {
	why := "by somebody, or because the machine had no memory left"
	if killed.Signal == syscall.SIGPIPE {
		why = "the program that read its output has ended"
	}
	e := &cli.Error{Code: cli.Machine, Err: fmt.Errorf("%w: %s", killed, why),
		Remedy: "what had ended is kept; `run-tasks ls` shows it, `run-tasks resume SWEEP` runs the rest"}
	h, err := c.openFolder(ctx)
	if err != nil { // it had kept nothing, or nothing can be read now
		return e
	}
	defer h.close()
	listed, err := h.reader.List(ctx, "", 0)
	if err != nil {
		return e
	}
	var stand, open []string
	for _, s := range slices.Backward(listed) {
		if !runs(s.Head) {
			continue
		}
		now, err := h.Sweep(ctx, s.Head.ID, false)
		if err != nil {
			return e
		}
		if now.State == core.Open { // another process has it
			open = append(open, now.ID)
			continue
		}
		done, _ := tally(now.Summary)
		stand = append(stand, fmt.Sprintf("%s: %d of %s had ended, and their results are kept; `%s resume %s` runs the rest", now.ID, done, plural(now.Total, "task"), c.self, now.ID))
	}
	if n := len(open); n > 0 {
		stand = append(stand, fmt.Sprintf("%s %s on in the process of another terminal; `%s follow %s` shows it", enumerated(open), pick(n, "goes", "go"), c.self, open[n-1]))
	}
	if len(stand) > 0 {
		e.Remedy = strings.Join(stand, "\n  ")
	}
	return e
}

// runs reports whether the store has a sweep as running.
func runs(h core.Head) bool {
	return h.State == core.Open || h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] > 0
}

// settle writes down the end of a run that was killed; false when another process has the store, or it was removed.
func settle(ctx context.Context) (settled bool, err error) {
	if !exists(filepath.Join(storeFolder, store.File)) {
		return false, nil
	}
	s, err := hold(ctx)
	if _, inUse := errors.AsType[*store.InUse](err); inUse {
		return false, nil
	} else if err != nil {
		return false, err
	}
	m := master.New(master.Options{Store: s, Queue: memory.New(), Log: slog.New(slog.DiscardHandler), Local: true})
	return true, errors.Join(m.Settle(ctx), s.Close())
}

// hold opens the store for writing. A process that dies holds it for a moment.
func hold(ctx context.Context) (s *store.Store, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Second); ; {
		s, err = store.Open(ctx, storeFolder, "run-tasks")
		if _, inUse := errors.AsType[*store.InUse](err); !inUse || alive() || time.Now().After(end) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
