package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// unsettledReason is why a sweep does not run that the store has as running, where that cannot be corrected.
const unsettledReason = "its run was killed; the store is not writable and still lists tasks as running"

// correctKilled returns a function that corrects a sweep which the store has as running while no runner lives: a run that was
// killed could not record its end. The correction is stored once, as the next run would store it.
func correctKilled(r *store.Reader) func(context.Context, *core.Head) error {
	var ( // one try settles all sweeps
		once    sync.Once
		settled bool
		failed  error
	)
	return func(ctx context.Context, h *core.Head) error {
		if !listedAsRunning(*h) || alive() {
			return nil
		}
		once.Do(func() { settled, failed = settle(ctx) })
		switch {
		case failed != nil && h.State == core.Open:
			h.State, h.Reason = core.Paused, unsettledReason
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

// listedAsRunning reports whether the store has a sweep as running.
func listedAsRunning(h core.Head) bool {
	return h.State == core.Open || h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] > 0
}

// settle writes down the end of a run that was killed; false when another process has the store, or it was removed.
func settle(ctx context.Context) (settled bool, err error) {
	if !exists(filepath.Join(storeFolder, store.File)) {
		return false, nil
	}
	s, err := openForSettling(ctx)
	if _, inUse := errors.AsType[*store.InUse](err); inUse {
		return false, nil
	} else if err != nil {
		return false, err
	}
	m := master.New(master.Options{Store: s, Queue: memory.New(), Log: slog.New(slog.DiscardHandler), Local: true})
	return true, errors.Join(m.Settle(ctx), s.Close())
}

// openForSettling opens the store for writing. A process that dies holds it for a moment.
func openForSettling(ctx context.Context) (s *store.Store, err error) {
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
