package worker

import (
	"context"
	"errors"
	"sync"
)

// awaited are the measures whose answers are awaited, queued or being read, by ID. The zero value is
// empty. It is safe for concurrent use.
type awaited struct {
	mu  sync.Mutex
	all map[string]func() // what ends the reading
}

var errForgotten = errors.New("its answer is no longer awaited")

// add notes a measure that comes into line, and reports whether it was not there.
func (a *awaited) add(id string) (added bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]func(){}
	}
	if a.all[id] != nil {
		return false
	}
	a.all[id] = func() {}
	return true
}

// begin returns a context for the reading of a measure, which ends when the measure is forgotten, and
// a function to call after the reading, which reports whether the answer is still awaited. Ok is false
// when the measure was forgotten before.
func (a *awaited) begin(ctx context.Context, id string) (reading context.Context, end func() bool, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[id] == nil {
		return nil, nil, false
	}
	reading, cancel := context.WithCancelCause(ctx)
	a.all[id] = func() { cancel(errForgotten) }
	return reading, func() bool { return a.forget(id) }, true
}

// forget drops a measure, and reports whether it was there.
func (a *awaited) forget(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	cancel := a.all[id]
	if cancel == nil {
		return false
	}
	delete(a.all, id)
	cancel()
	return true
}
