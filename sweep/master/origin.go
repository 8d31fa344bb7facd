package master

import (
	"context"
	"fmt"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// own reports whether an event is of an attempt that was placed on its worker. What is said of
// another attempt changes nothing: the worker is told to stop what seems to run there. It is
// counted, but for attempts that a worker gave back, as a message that came twice may begin those.
func (m *Master) own(ctx context.Context, a *active, e task.Event) (bool, error) {
	if a.ledger.Counts(e) {
		return true, nil
	}
	p, err := m.o.Store.Placement(ctx, e.Sweep, e.Index, e.Attempt)
	if err != nil {
		return false, fmt.Errorf("read the placement of %s, attempt %d: %w", e.ID(), e.Attempt, err)
	}
	if p.Worker == e.Worker && p.Worker != "" {
		return true, nil
	}
	a.ledger.Reject(e)
	if neverHad(e.Worker, e.Attempt, p) {
		m.foreign(e)
	}
	return false, nil
}

// neverHad reports whether it is certain that a worker never had an attempt: it was placed on
// another, or does not exist. Where one was placed that was given back is not known.
func neverHad(worker string, attempt int, p store.Placement) bool {
	return p.Worker != "" && p.Worker != worker || attempt < 1 || attempt > p.Newest
}

// foreign counts an event of an attempt that its worker does not have and never had.
func (m *Master) foreign(e task.Event) {
	m.tally.refused++
	if w := m.workers[e.Worker]; w != nil && !w.foreign {
		m.o.Log.Warn("a worker tells of an attempt that was not placed on it; that is not kept",
			"worker", e.Worker, "task", e.ID(), "attempt", e.Attempt, "event", e.Kind)
		w.foreign = true
	}
}
