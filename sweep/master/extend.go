package master

import (
	"context"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// MostPriority bounds the priority of a sweep, in both directions.
const MostPriority = 1000

// Extend gives a sweep the points of a space that its parameters did not describe so far, as tasks behind those it has, and
// lets it go on, whether it had ended, was paused or runs. Updated moves it to another revision, and has its secrets where they
// are gone. It returns how many tasks it added; where there is nothing to add the sweep stays as it is.
func (m *Master) Extend(ctx context.Context, id string, with *space.Space, updated Code) (added int64, err error) {
	_, err = m.alter(ctx, id, func(a *active) error {
		if err := a.extensible(); err != nil {
			return err
		}
		extended, n, err := a.stored.Record.Extended(with)
		if err != nil {
			return &WrongState{ID: a.stored.Head.ID, Is: "not to be extended: " + err.Error(), Remedy: "submit what is new as a sweep of its own"}
		}
		if added = n; n == 0 {
			return nil
		}
		if _, err := extended.Stored(); err != nil {
			return err
		}
		if err := m.supply(a, updated.Secrets); err != nil {
			return err
		}
		if err := m.revise(ctx, a, updated); err != nil {
			return err
		}
		r := a.stored.Record // as it was revised
		r.Extensions, r.Ranges, r.Version = extended.Extensions, extended.Ranges, max(r.Version, extended.Version)
		if c := updated.Overrides; c != nil && c.IsZero() {
			r.Overrides = nil
		} else if c != nil {
			r.Overrides = c
		}
		a.rewrite(r)
		m.queueUp(a)
		a.ledger.Extend(r, n)
		a.stored.Head.Total += n
		return nil
	})
	return added, err
}

// extensible refuses sweeps that cannot have more tasks.
func (a *active) extensible() error {
	h := a.ledger.Head()
	switch {
	case a.stored.Record.EachWorker:
		return &WrongState{ID: h.ID, Is: "a sweep with a task for each worker, not for points", Remedy: "submit it again for the workers that there are now"}
	case h.State == core.Cancelled || a.cut():
		return &WrongState{ID: h.ID, Is: "cancelled, all of it or a part", Remedy: "`run-tasks retry " + h.ID + "` runs what was cancelled; then it can be extended"}
	}
	return nil
}

// rewrite changes the record of a sweep. The next commit keeps it, and tells who watches.
func (a *active) rewrite(r core.Record) {
	a.stored.Record, a.points, a.rewritten = r, r.Points(), true
}

// Prioritize changes the priority of a sweep, from -MostPriority to MostPriority: sweeps of a higher one go first.
func (m *Master) Prioritize(ctx context.Context, id string, priority int) (core.Head, error) {
	return m.alter(ctx, id, func(a *active) error {
		if r := a.stored.Record; r.Priority != priority {
			r.Priority = priority
			a.rewrite(r)
			m.rank()
		}
		return nil
	})
}

// rank puts the sweeps in the order in which they get slots. Those of one priority keep the turns that they have.
func (m *Master) rank() {
	slices.SortStableFunc(m.turn, func(a, b string) int {
		return m.sweeps[b].stored.Record.Priority - m.sweeps[a].stored.Record.Priority
	})
}

// ranks are the parts of the turn in which sweeps have one priority, the highest first. With Alone each sweep is a part: those
// that began first go first.
func (m *Master) ranks() (ranks [][]string) {
	for left := m.turn; len(left) > 0; {
		priority, n := m.sweeps[left[0]].stored.Record.Priority, 1
		for !m.o.Alone && n < len(left) && m.sweeps[left[n]].stored.Record.Priority == priority {
			n++
		}
		ranks, left = append(ranks, left[:n]), left[n:]
	}
	return ranks
}

// queueUp puts a sweep that goes on behind those that run, with Alone.
func (m *Master) queueUp(a *active) {
	if h := a.ledger.Head(); m.o.Alone && h.State != core.Open {
		m.turn = append(slices.DeleteFunc(m.turn, func(id string) bool { return id == h.ID }), h.ID)
		m.rank()
	}
}

// outranked tells whether a sweep of a higher priority has something to hand out.
func (m *Master) outranked(a *active) bool {
	for _, b := range m.sweeps {
		if b.stored.Record.Priority > a.stored.Record.Priority && b.ready(m.placed) {
			return true
		}
	}
	return false
}
