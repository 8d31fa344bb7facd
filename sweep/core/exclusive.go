package core

import "time"

// chooseExclusiveWorker reserves a worker for exclusive tasks if one has waited long.
func (c *Core) chooseExclusiveWorker() {
	version := c.exclusiveVersion()
	if version == 0 {
		c.setExclusiveWorker("")
		return
	}
	if w := c.workers[c.exclusiveWorker]; w != nil && w.available() && w.reads(version) {
		return
	}
	for _, w := range c.ordered {
		if w.available() && w.reads(version) {
			c.setExclusiveWorker(w.record.Name)
			return
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

// exclusiveVersion is the lowest version of batches with an exclusive task that has waited long; 0:
// there is none.
func (c *Core) exclusiveVersion() (lowest int) {
	for a := range c.withExclusive {
		if v := a.version; (lowest == 0 || v < lowest) && a.ledger.ExclusiveWaits(c.now) &&
			!c.outranked(a) {
			lowest = v
		}
	}
	return lowest
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

// ExclusiveWaits reports whether an exclusive task has waited long for an empty worker: none gets
// empty by itself.
func (l *Ledger) ExclusiveWaits(now time.Time) bool {
	if l.head.State != Open || l.exclusivePending == 0 {
		return false
	}
	for _, t := range l.pending[:min(len(l.pending), maxScanned)] {
		if now.Sub(t.NotBefore) < exclusiveWait {
			return false // and those behind it wait no longer
		}
		if t.exclusive() {
			return true
		}
	}
	return false
}
