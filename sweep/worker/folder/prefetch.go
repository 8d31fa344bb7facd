package folder

import (
	"context"
	"errors"
)

// Prefetch starts to make the next copy while attempts run, and returns at once. It ensures that
// one complete idle copy exists: it restores what an attempt changed in an idle copy, or makes a
// new one. One copy is prefetched at a time; Close cancels it.
func (p *Project) Prefetch() {
	generation, whole, err := p.snapshot.current()
	s := p.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.closed || s.prefetching || s.o.Idle == 0 || !whole ||
		s.hasIdle(p, generation) {
		return
	}
	t := s.takeIdle(p, generation)
	s.prefetching = true
	s.prefetch.Go(func() {
		t, err := p.complete(s.prefetchCtx, t, generation)
		if err == nil {
			s.addIdle(t)
		}
		s.mu.Lock()
		s.prefetching = false
		s.mu.Unlock()
		// the attempt that needs the copy makes it
		if err != nil && !errors.Is(err, context.Canceled) {
			s.o.Log.Debug("cannot make a copy of a project ahead of time", "error", err)
		}
	})
}

// hasIdle reports whether a complete idle copy exists. The caller holds the lock.
func (s *Store) hasIdle(p *Project, generation int) bool {
	for _, t := range s.idle {
		if t.project == p && t.generation == generation && !t.incomplete {
			return true
		}
	}
	return false
}
