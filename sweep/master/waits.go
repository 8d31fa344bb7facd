package master

import (
	"context"
	"fmt"
	"time"

	"mlframework/sweep/core"
)

// Waits tells which tasks of a sweep wait for a worker that takes none now, by index, and why: those of a sweep that runs
// once on every worker. It is empty for others, and for one that has ended.
func (m *Master) Waits(ctx context.Context, id string) (map[int64]string, error) {
	waits := map[int64]string{}
	err := m.do(ctx, func(context.Context) error {
		if a := m.sweeps[id]; a != nil {
			for _, t := range m.waits(a) {
				waits[t.Index] = t.Waits
			}
		}
		return nil
	})
	return waits, err
}

// waits are the tasks of a sweep that wait for a worker, with the reason.
func (m *Master) waits(a *active) (all []core.Task) {
	if a.ledger.Head().State != core.Open {
		return nil
	}
	for _, name := range a.stored.Record.Workers {
		why := m.absence(name, a.version())
		if why == "" {
			continue
		}
		for _, t := range a.ledger.Pinned(name) {
			t.Waits = why
			all = append(all, t)
		}
	}
	return all
}

// absence says why a task of such a version waits for a worker; "": it takes them.
func (m *Master) absence(name string, version int) string {
	w := m.workers[name]
	if w == nil || w.takes() && w.reads(version) {
		return ""
	}
	switch s := m.shown(w); {
	case w.takes():
		return fmt.Sprintf("waits for worker %s, whose program is older than the master's and knows no secrets: update the worker", name)
	case s.State == WorkerAway && !w.gone.IsZero():
		return fmt.Sprintf("waits for worker %s, which is away since %s UTC (%s); `run-tasks workers forget %s` cancels it",
			name, w.gone.UTC().Format(time.DateTime), *s.Reason, name)
	case s.State == WorkerDraining:
		return fmt.Sprintf("waits for worker %s, which takes nothing new; `run-tasks workers resume %s` lets it", name, name)
	case s.Reason != nil:
		return fmt.Sprintf("waits for worker %s, which is %s: %s", name, s.State, *s.Reason)
	}
	return "" // it has just come
}

// explain tells those who follow a sweep which of its tasks wait for a worker, when that has changed.
func (m *Master) explain() {
	for _, a := range m.sweeps {
		if len(a.stored.Record.Workers) == 0 {
			continue
		}
		before := a.told
		a.told = map[int64]string{}
		var fresh []core.Task
		for _, t := range m.waits(a) {
			if a.told[t.Index] = t.Waits; t.Waits != before[t.Index] {
				fresh = append(fresh, t)
			}
		}
		if len(fresh) > 0 {
			m.watch.changed(a.stored.Record, a.ledger.Head(), fresh)
		}
	}
}
