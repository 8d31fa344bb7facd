package core

import (
	"cmp"
	"slices"
	"time"
)

// chooseExclusiveWorker reserves a worker for an exclusive task that has waited long: one that
// could start the task if it had no others. It stays reserved while it could. A task that no worker
// could start reserves none, and those behind it have their turn.
func (c *Core) chooseExclusiveWorker() {
	for _, e := range c.exclusiveWaiting() {
		if w := c.workers[c.exclusiveWorker]; w != nil && e.suits(w) {
			return
		}
		for _, w := range c.ordered {
			if e.suits(w) {
				c.setExclusiveWorker(w.record.Name)
				return
			}
		}
	}
	c.setExclusiveWorker("")
}

// setExclusiveWorker reserves a worker for exclusive tasks, and releases the one before it.
func (c *Core) setExclusiveWorker(name string) {
	if name == c.exclusiveWorker {
		return
	}
	for _, changed := range []string{c.exclusiveWorker, name} {
		if w := c.workers[changed]; w != nil {
			c.consider(w)
		}
	}
	c.exclusiveWorker = name
}

// exclusiveTask is a task that waits for a worker of its own.
type exclusiveTask struct {
	sweep *activeSweep
	task  *Task
}

// suits reports whether a worker could start the task if it had no others.
func (e exclusiveTask) suits(w *worker) bool {
	if l := e.sweep.ledger; len(l.pins) > 0 && l.pin(e.task.Index) != w.record.Name {
		return false
	}
	return w.couldStart(e.sweep)
}

// exclusiveWaiting lists the tasks for which a worker is to be reserved: those of the highest
// priority first, and of one priority those that wait longest. It is valid until the next call.
func (c *Core) exclusiveWaiting() []exclusiveTask {
	all := c.exclusives[:0]
	for a := range c.withExclusive {
		if !c.outranked(a) {
			all = a.exclusiveWaiting(all, c.now)
		}
	}
	slices.SortFunc(all, func(x, y exclusiveTask) int {
		return cmp.Or(cmp.Compare(y.sweep.record.Priority, x.sweep.record.Priority),
			x.task.NotBefore.Compare(y.task.NotBefore), serially(x.sweep, y.sweep),
			cmp.Compare(x.task.Index, y.task.Index))
	})
	c.exclusives = all
	return all
}

// outranked reports whether a sweep of a higher priority has something to hand out.
func (c *Core) outranked(a *activeSweep) bool {
	return !c.queue.empty() && c.queue.levels[0].priority > a.record.Priority
}

// exclusive reports whether a task must have a worker to itself.
func (t *Task) exclusive() bool { return t.Charged.Lost >= exclusiveAfter }

// HasExclusive reports whether a worker has an exclusive task of the sweep.
func (l *Ledger) HasExclusive(worker string) bool {
	if len(l.exclusive) == 0 {
		return false
	}
	for _, w := range l.exclusive {
		if w == worker {
			return true
		}
	}
	return false
}

// exclusiveWaiting adds the exclusive tasks that have waited long for an empty worker: none gets
// empty by itself. Of those that any worker may have it is the first.
func (a *activeSweep) exclusiveWaiting(all []exclusiveTask, now time.Time) []exclusiveTask {
	l := a.ledger
	if l.head.State != Open || l.exclusivePending == 0 {
		return all
	}
	for _, t := range l.pending[:min(len(l.pending), maxScanned)] {
		if now.Sub(t.NotBefore) < exclusiveWait {
			break // and those behind it wait no longer
		}
		if t.exclusive() {
			all = append(all, exclusiveTask{a, t})
			if len(l.pins) == 0 {
				break
			}
		}
	}
	return all
}
