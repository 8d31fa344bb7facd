package local

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
)

// unsettledReason is why a sweep does not run that the store has as running, where that cannot be
// corrected.
const unsettledReason = "its run was killed; the store is not writable and still lists tasks as " +
	"running"

// CorrectKilled returns a function that corrects a sweep which the store has as running while no
// runner lives: a run that was killed could not record its end. The correction is stored once, as
// the next run would store it.
func CorrectKilled(r *store.Reader) func(context.Context, *core.Head) error {
	var ( // one try settles all sweeps
		once    sync.Once
		settled bool
		failed  error
	)
	return func(ctx context.Context, h *core.Head) error {
		if !ListedAsRunning(*h) || Alive() {
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

// settle writes down the end of a run that was killed; false when another process has the store, or
// it was removed.
func settle(ctx context.Context) (settled bool, err error) {
	if _, err := os.Stat(filepath.Join(StoreFolder(), store.File)); err != nil {
		return false, nil
	}
	s, err := openForSettling(ctx)
	if _, inUse := errors.AsType[*store.InUse](err); inUse {
		return false, nil
	} else if err != nil {
		return false, err
	}
	m := master.New(master.Options{Store: s, Queue: memory.New(),
		Log: slog.New(slog.DiscardHandler), Local: true})
	return true, errors.Join(m.Settle(ctx), s.Close())
}

// openForSettling opens the store for writing. A process that dies holds it for a moment.
func openForSettling(ctx context.Context) (s *store.Store, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Second); ; {
		s, err = store.Open(ctx, StoreFolder(), "run-tasks")
		_, inUse := errors.AsType[*store.InUse](err)
		if !inUse || Alive() || time.Now().After(end) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
