package main

import (
	"context"
	"slices"
	"time"

	"mlframework/sweep/core"
)

// lackingInterval is the time between two looks at which workers lack the files of a sweep.
const lackingInterval = 15 * time.Second

// bringFiles brings the files of a sweep to hosts that were away at its submission and are back,
// until the returned function is called. A failure is tried again and not reported: `show` and
// check-status report what a worker lacks.
func (m *remote) bringFiles(ctx context.Context, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(lackingInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			s, err := m.Sweep(ctx, id, false)
			if err != nil {
				continue
			}
			_ = m.bringLacked(ctx, s.Revision, func(host string, _ time.Duration) {
				m.messages.Note(host + " is back, and was brought the project's files")
			})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// bringLacked brings the files of a revision to the hosts of the workers that lack them, and calls
// did for each. It returns the first error, after it tried them all.
func (m *remote) bringLacked(ctx context.Context, revision string,
	did func(host string, took time.Duration)) (first error) {
	workers, err := m.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		if w.State == core.WorkerAway || !slices.Contains(w.Lacks, revision) {
			continue
		}
		begun := time.Now()
		if err := m.cluster.CopyRevision(ctx, w.Name, revision); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		did(w.Name, time.Since(begun))
	}
	return first
}
