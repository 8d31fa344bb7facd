package core

import (
	"cmp"
	"container/heap"
	"container/list"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// activeSweep is a sweep that has not ended, or that an input is about.
type activeSweep struct {
	seq    int64
	serial int64 // in the order in which sweeps were added
	// position is the order of a local run, in which sweeps run one at a time.
	position     int64
	record       *Record // is replaced, and never changed
	ledger       *Ledger
	hasLeftovers func(*Task) bool // as in an Offer
	// mean is the mean running time of an attempt, the newest weighing most; 0: none has ended.
	mean time.Duration

	edition     string    // which values of its secrets the master has; "": none
	pausedSince time.Time // as is kept beside the values
	blocked     map[int64]string
	fitting     int // tasks that fit on all workers, in the placement fittingAt
	fittingAt   int64
	// since when it keeps its turn, as its tasks do not find what they reserve; zero: it does not
	keptSince  time.Time
	waitsSince time.Time // since when none of its tasks can start; zero: some can

	was       Head   // how it stood after the step before
	changed   bool   // it is in Core.changed
	rewritten bool   // the record is not in the store as it is
	code      string // as in SweepRows
	ranked    bool   // likewise
	removed   bool   // it is removed in this step

	dueAt time.Time     // of its earliest entry in Core.due; zero: there is none
	turn  *list.Element // where it waits for its turn; nil: it has nothing to place now
	level *priorityLevel
}

func (a *activeSweep) id() string { return a.ledger.head.ID }

// secrets are the names of the sweep's secrets.
func (a *activeSweep) secrets() []string { return a.record.Recipe.Secrets }

// setRecord gives the sweep a record, or a new version of it.
func (a *activeSweep) setRecord(r Record) {
	a.record = &r
}

// hasTask reports whether an index is one of the sweep's.
func (a *activeSweep) hasTask(index int64) bool {
	_, ok := a.ledger.ordinal(index)
	return ok
}

// updateMean keeps the mean running time of the attempts that had their time.
func (a *activeSweep) updateMean(o *task.Outcome) {
	if o != nil && o.Duration > 0 && o.Class != task.Stopped && o.Class != task.Loss {
		a.mean = cmp.Or(a.mean, o.Duration)
		a.mean += (o.Duration - a.mean) / 8
	}
}

// Has reports whether the core has a sweep.
func (c *Core) Has(id string) bool { return c.sweeps[id] != nil }

// Record returns the record of a sweep that the core has.
func (c *Core) Record(id string) (Record, bool) {
	a := c.sweeps[id]
	if a == nil {
		return Record{}, false
	}
	return *a.record, true
}

// Head returns how a sweep stands that the core has.
func (c *Core) Head(id string) (Head, bool) {
	a := c.sweeps[id]
	if a == nil {
		return Head{}, false
	}
	return a.ledger.Head(), true
}

// Add gives the core a sweep of the store. One that it has already stays as it is. One that has
// ended is dropped again with the next step that does not change that.
func (c *Core) Add(l Loaded) {
	if c.sweeps[l.Head.ID] != nil {
		return
	}
	c.serial++
	a := &activeSweep{seq: l.Seq, serial: c.serial, position: c.serial,
		ledger:  NewLedger(l.Record, l.Head, l.Open, l.CancelledEarly),
		edition: l.Edition, pausedSince: l.PausedSince, was: l.Head}
	a.setRecord(l.Record)
	a.hasLeftovers = c.hasLeftovers(a)
	c.sweeps[l.Head.ID] = a
	c.inOrder = append(c.inOrder, a)
	c.countNeeds(a, 1)
	c.missing.submitted(l.Head.ID)
	c.ledger(a).morePending = true
	for worker := range a.ledger.assigned {
		c.worker(worker)
	}
	c.sync()
}

// countNeeds counts a sweep among those with needs.
func (c *Core) countNeeds(a *activeSweep, by int) {
	n := &a.ledger.needs
	c.countKind(n, by)
	if !n.None() {
		c.demanding += by
		if n.reserved {
			c.reserving += by
		}
	}
}

// ledger returns the ledger of a sweep for a change, with its clock set.
func (c *Core) ledger(a *activeSweep) *Ledger {
	if !a.changed {
		a.changed = true
		c.changed = append(c.changed, a)
	}
	a.ledger.Clock(c.now)
	return a.ledger
}

// drop forgets a sweep that has ended. It is added again when an input is about it.
func (c *Core) drop(a *activeSweep) {
	id := a.id()
	c.dropSecrets(a)
	c.queue.remove(a)
	delete(c.withExclusive, a)
	delete(c.sweeps, id)
	at, _ := slices.BinarySearchFunc(c.inOrder, a, serially)
	c.inOrder = slices.Delete(c.inOrder, at, at+1)
	c.countNeeds(a, -1)
	if !a.record.AwaitsOnEnd() { // else its OnEnd inherits it
		delete(c.memory.Environs, id)
	}
	c.missing.ended(id, a.ledger.head.Ended)
}

// sync brings what is known of workers and turns up to date with the ledgers that changed.
func (c *Core) sync() {
	for _, a := range c.changed {
		for _, name := range a.ledger.reassigned {
			if w := c.workers[name]; w != nil {
				w.updateAssigned(a)
				c.considerHost(w)
			}
		}
		a.ledger.reassigned = a.ledger.reassigned[:0]
		c.schedule(a)
	}
}

// schedule queues a sweep that has something to place, and notes when the next of its tasks is due.
func (c *Core) schedule(a *activeSweep) {
	l := a.ledger
	if l.exclusivePending > 0 {
		c.withExclusive[a] = true
	} else if len(c.withExclusive) > 0 {
		delete(c.withExclusive, a)
	}
	// Without further pending tasks none is due before the one that is known.
	search := l.morePending || len(l.offerTo) > 0 || a.dueAt.IsZero()
	if l.morePending {
		l.morePending, c.retryIdle = false, true
	}
	c.offerTo(l.offerTo)
	l.offerTo = l.offerTo[:0]
	if ready := l.ready(c.now); ready != (a.turn != nil) {
		if !ready {
			c.queue.remove(a)
			a.keptSince = time.Time{}
		} else {
			c.queue.add(a, c.options.Local)
		}
	}
	if !search {
		return
	}
	if at := l.NextDue(c.now); !at.IsZero() && (a.dueAt.IsZero() || at.Before(a.dueAt)) {
		a.dueAt = at
		heap.Push(&c.due, dueSweep{at, a.serial, a})
	}
}

// offerTo has the next placement consider workers for which there are tasks. If there is only one
// worker, it may get everything.
func (c *Core) offerTo(workers []string) {
	if len(workers) > 0 && c.available <= 1 {
		c.retryIdle = true
		return
	}
	for _, name := range workers {
		if w := c.workers[name]; w != nil {
			c.consider(w)
		}
	}
}

// serially compares sweeps in the order in which they were added.
func serially(a, b *activeSweep) int { return cmp.Compare(a.serial, b.serial) }

// HasTask returns nil for a task of a sweep that the core has; else *UnknownTask.
func (c *Core) HasTask(id task.ID) error {
	a := c.sweeps[id.Sweep]
	if a == nil {
		return errNotAdded
	}
	if !a.hasTask(id.Index) {
		return a.unknown(id.Index)
	}
	return nil
}
