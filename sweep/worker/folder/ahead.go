package folder

import (
	"context"
	"errors"
)

// Ahead makes the next copy ready while attempts run, and does not wait for it: one whole copy that no attempt uses. It
// makes what an attempt changed in its copy anew, or one copy more than attempts have. One copy is made ahead at a time,
// and Close gives it up.
func (p *Project) Ahead() {
	generation, whole, err := p.snapshot.now()
	s := p.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.closed || s.making || s.o.Idle == 0 || !whole || s.has(p, generation) {
		return
	}
	t := s.pick(p, generation)
	s.making = true
	s.ahead.Go(func() {
		t, err := p.whole(s.end, t, generation)
		if err == nil {
			s.keep(t)
		}
		s.mu.Lock()
		s.making = false
		s.mu.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) { // whoever needs the copy makes it, and is told
			s.o.Log.Debug("no copy of a project was made ahead", "error", err)
		}
	})
}

// has reports whether a whole copy is kept that no attempt uses. The caller holds the lock.
func (s *Store) has(p *Project, generation int) bool {
	for _, t := range s.idle {
		if t.project == p && t.made == generation && !t.missing {
			return true
		}
	}
	return false
}
