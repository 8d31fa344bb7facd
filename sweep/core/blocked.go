package core

import (
	"fmt"
	"time"

	"mlframework/sweep/task"
)

// Blocked returns which tasks of a sweep wait for a worker that takes none now, by index, and why:
// those of a sweep that runs once on every worker, and those on silent workers.
func (c *Core) Blocked(id string) map[int64]string {
	blocked := map[int64]string{}
	if a := c.sweeps[id]; a != nil {
		blocked = c.silentTasks(a)
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
		why := c.whyBlocked(name, a)
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

// whyBlocked is why a task of a sweep waits for a worker; "": the worker takes it.
func (c *Core) whyBlocked(name string, a *activeSweep) string {
	w := c.workers[name]
	if w == nil {
		return fmt.Sprintf(
			"waits for worker %s, which is not known: start it, or cancel the task", name)
	}
	need := a.record.Recipe.GPUs
	switch s := c.view(w); {
	case w.available() && !w.canMeet(need):
		return fmt.Sprintf("waits for %v on worker %s, which has %s", needOf(need), name,
			w.neverMeets(need))
	case w.available() && need != (task.GPUs{}) && w.gpus.room.count(w, a) == 0:
		return fmt.Sprintf("waits for %v on worker %s: %s", needOf(need), name, w.outOfGPUs(need))
	case w.available():
		return ""
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
