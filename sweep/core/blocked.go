package core

import (
	"fmt"
	"time"

	"mlframework/sweep/human"
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
	n := &a.ledger.needs
	switch s, never := c.view(w), w.neverFits(n); {
	case w.available() && w.lacks(a):
		return fmt.Sprintf("waits for worker %s, which lacks the files of revision %s: "+
			"run-tasks follow and infrainit -f bring them", name,
			human.Truncate(a.record.Recipe.Revision))
	case w.available() && never != "":
		return fmt.Sprintf("waits for %s on worker %s, which has %s", NeedsText(n.Needs), name,
			never)
	case w.available() && n.devices > 0 && !w.couldStart(a):
		return fmt.Sprintf("waits for %s on worker %s: %s", NeedsText(n.Needs), name,
			w.outOfGPUs(n.GPUs))
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
