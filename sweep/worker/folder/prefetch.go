package folder

import (
	"context"
	"errors"
)

// Prefetch makes the next copy ready while attempts run, and does not wait for it: one whole copy that no attempt uses. It
// makes what an attempt changed in its copy anew, or one copy more than attempts have. One copy is made ahead at a time,
// and Close gives it up.
func (p *Project) Prefetch() {
	generation, whole, err := p.snapshot.current()
	s := p.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.closed || s.prefetching || s.o.Idle == 0 || !whole || s.hasIdle(p, generation) {
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
		if err != nil && !errors.Is(err, context.Canceled) { // whoever needs the copy makes it, and is told
			s.o.Log.Debug("no copy of a project was made ahead", "error", err)
		}
	})
}

// hasIdle reports whether a whole copy is kept that no attempt uses. The caller holds the lock.
func (s *Store) hasIdle(p *Project, generation int) bool {
	for _, t := range s.idle {
		if t.project == p && t.generation == generation && !t.incomplete {
			return true
		}
	}
	return false
}
