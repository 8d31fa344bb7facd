package core

import (
	"fmt"
	"time"
)

// Blocked returns which tasks of a sweep wait for a worker that takes none now, by index, and why:
// those of a sweep that runs once on every worker. It is empty for others, and for one that has
// ended.
func (c *Core) Blocked(id string) map[int64]string {
	blocked := map[int64]string{}
	if a := c.sweeps[id]; a != nil {
		for _, t := range c.blockedTasks(a) {
			blocked[t.Index] = t.Blocked
		}
	}
	return blocked
}

// blockedTasks are the tasks of a sweep that wait for a worker, with the reason.
func (c *Core) blockedTasks(a *activeSweep) (all []Task) {
	if a.ledger.Head().State != Open {
		return nil
	}
	for _, name := range a.record.Workers {
		why := c.whyBlocked(name, a.version)
		if why == "" {
			continue
		}
		for _, t := range a.ledger.Pinned(name) {
			t.Blocked = why
			all = append(all, t)
		}
	}
	return all
}

// whyBlocked is why a task of such a version waits for a worker; "": the worker takes it.
func (c *Core) whyBlocked(name string, version int) string {
	w := c.workers[name]
	if w == nil {
		return fmt.Sprintf(
			"waits for worker %s, which is not known: start it, or cancel the task", name)
	}
	if w.available() && w.reads(version) {
		return ""
	}
	switch s := c.view(w); {
	case w.available():
		return fmt.Sprintf("waits for worker %s, whose program is older than the master's and "+
			"knows no secrets: update the worker", name)
	case s.State == WorkerAway && !w.awaySince.IsZero():
		return fmt.Sprintf("waits for worker %s, which is away since %s UTC (%s); "+
			"`run-tasks workers forget %s` cancels it",
			name, w.awaySince.UTC().Format(time.DateTime), *s.Reason, name)
	case s.State == WorkerDraining:
		return fmt.Sprintf("waits for worker %s, which takes nothing new; "+
			"`run-tasks workers resume %s` lets it", name, name)
	case s.Reason != nil:
		return fmt.Sprintf("waits for worker %s, which is %s: %s", name, s.State, *s.Reason)
	}
	return "" // it has just come
}

// notifyBlocked notifies followers of a sweep if other tasks of it than before wait for a worker.
func (c *Core) notifyBlocked() {
	for _, a := range c.inOrder {
		if len(a.record.Workers) == 0 {
			continue
		}
		before := a.blocked
		a.blocked = map[int64]string{}
		var changed []Task
		for _, t := range c.blockedTasks(a) {
			if a.blocked[t.Index] = t.Blocked; t.Blocked != before[t.Index] {
				changed = append(changed, t)
			}
		}
		if len(changed) > 0 {
			c.effects.Blocked = append(c.effects.Blocked, SweepRows{Seq: a.seq, Record: a.record,
				Head: a.ledger.Head(), Changes: Changes{Tasks: changed}})
		}
	}
}
