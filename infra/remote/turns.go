package remote

import (
	"context"
	"errors"
	"sync"
	"time"
)

// turns lets so many at a time through.
type turns struct {
	mu    sync.Mutex
	limit int
	open  int
	last  time.Time     // when one ended
	freed chan struct{} // closed, and replaced, when a turn is given back
}

func newTurns(limit int) *turns { return &turns{limit: limit, freed: make(chan struct{})} }

// take waits for a turn.
func (t *turns) take(ctx context.Context) error {
	for {
		t.mu.Lock()
		freed := t.freed
		if t.open < t.limit {
			t.open++
			t.mu.Unlock()
			return nil
		}
		t.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// end gives back a turn that was used.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
	t.free()
}

// free gives back a turn under the lock.
func (t *turns) free() {
	t.open--
	close(t.freed)
	t.freed = make(chan struct{})
}

func (t *turns) taken() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open
}

// sshd goes on counting a session for a moment after it has told its end: how long that is believed, and how often it is
// asked.
const (
	lag    = 2 * time.Second
	askLag = 20 * time.Millisecond
)

var errNoneEnds = errors.New("no other is open")

// refused is for whom had a turn, asked at a time, and found that the host takes no more. It gives
// the turn back, lowers the limit to what the host took, if that is certain, and waits until there
// may be room.
func (t *turns) refused(ctx context.Context, asked time.Time) error {
	t.mu.Lock()
	others := t.open - 1
	recent := asked.Sub(t.last) < lag // the answer may have been on its way for long
	if others > 0 && !recent {        // else sshd may have counted one that has ended
		t.limit = min(t.limit, others)
	}
	t.free()
	freed := t.freed
	t.mu.Unlock()
	if others == 0 && !recent {
		return errNoneEnds
	}
	var soon <-chan time.Time
	if recent {
		soon = time.After(askLag)
	}
	select {
	case <-freed:
	case <-soon:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
