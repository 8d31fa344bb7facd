package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MissingRevision is the error of Options.Revision for files that are not on this host, but may be
// brought later.
type MissingRevision struct {
	Revision string
	Err      error
}

func (m *MissingRevision) Error() string {
	return fmt.Sprintf("the files of revision %s are not on this host: %v", m.Revision, m.Err)
}

// Unwrap returns the cause.
func (m *MissingRevision) Unwrap() error { return m.Err }

// maxLacking limits the missing revisions that a worker remembers.
const maxLacking = 64

// noteMissing tells the master that the files of a revision are missing, before their attempts are
// returned, so that it does not send them again.
func (w *Worker) noteMissing(ctx context.Context, m *MissingRevision) {
	if !w.scheduler.setLacking(m.Revision, true) {
		return
	}
	w.o.Log.Warn("accepting no tasks of a revision until its files are here", "error", m)
	if w.port.SendHeartbeat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
}

// watchRevisions has the worker accept tasks of revisions whose files have come.
func (w *Worker) watchRevisions(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for _, r := range w.scheduler.lackingRevisions() {
				if _, err := w.o.Revision(r); err == nil && w.scheduler.setLacking(r, false) {
					w.o.Log.Info("the files of a revision have come", "revision", r)
					w.beatNow()
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// setLacking notes whether the files of a revision are missing. It reports whether that is new.
func (s *scheduler) setLacking(revision string, missing bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacking[revision] == missing || missing && len(s.lacking) >= maxLacking {
		return false
	}
	if missing {
		s.lacking[revision] = true
	} else {
		delete(s.lacking, revision)
	}
	return true
}

func (s *scheduler) lackingRevisions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.lacking))
}
