package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// place hands tasks to workers with free resources: to those of which something changed since the
// last placement and, if there may be something for them now, to idle ones.
func (c *Core) place() {
	c.sync()
	c.dueNow()
	c.countWorkers()
	c.placements++
	c.chooseExclusiveWorker()
	touched, idle, wanted := c.candidates()
	for _, onlyFree := range []bool{true, false} { // no task waits while it fits on another worker
		wanted = c.fillAll(touched, idle, wanted, onlyFree)
	}
	slices.SortFunc(c.filled, byName)
	for _, w := range c.filled {
		c.send(Message{Worker: w.record.Name, Batches: w.batches})
		w.batches = nil
	}
	c.filled = c.filled[:0]
}

// fillAll fills workers by name: those that were touched, and idle ones that may have room for what
// is wanted. That is the needs of sweeps that have something for any worker. It returns those that
// are left.
func (c *Core) fillAll(touched, idle []*worker, wanted needKinds, onlyFree bool) needKinds {
	for len(touched)+len(idle) > 0 {
		next := &idle
		if len(idle) == 0 || len(touched) > 0 && byName(touched[0], idle[0]) < 0 {
			next = &touched
		}
		w := (*next)[0]
		*next = (*next)[1:]
		if next == &idle && wanted&^w.noRoomFor == 0 {
			continue
		}
		if c.fill(w, onlyFree) && wanted != 0 {
			wanted = c.forAny()
		}
	}
	return wanted
}

// forAny returns the needs of sweeps that have something to place which any idle worker may have.
func (c *Core) forAny() (all needKinds) {
	empty := len(c.withExclusive) > 0 &&
		slices.ContainsFunc(c.idle, func(w *worker) bool { return len(w.assigned) == 0 })
	for _, r := range c.queue.levels {
		for e := r.sweeps.Front(); e != nil; e = e.Next() {
			l := e.Value.(*activeSweep).ledger
			if all&l.needs.kind == 0 && l.forAny(c.now, c.available > 1, empty) {
				if all |= l.needs.kind; all == c.kindsUsed {
					return all
				}
			}
		}
	}
	return all
}

// countWorkers updates which of the touched workers take tasks, and how many.
func (c *Core) countWorkers() {
	for _, w := range c.touched {
		takes, slots := c.workers[w.record.Name] == w && w.available(), 0
		if takes {
			slots = w.usableSlots()
		}
		if takes != w.takesTasks || slots != w.slots {
			c.retryIdle = true // a task may have to avoid no other worker now, or fit
		}
		if w.takesTasks {
			c.available--
		}
		if takes {
			c.available++
		}
		c.slots += slots - w.slots
		w.takesTasks, w.slots = takes, slots
		if !takes {
			c.setIdle(w, false)
			c.setUndersupplied(w, false)
		}
	}
}

// candidates returns the workers to be filled, by name: those that were touched, and the idle ones
// that may have room for what is wanted now. They are valid until the next call.
func (c *Core) candidates() (touched, idle []*worker, wanted needKinds) {
	c.touched, c.considered = c.considered[:0], c.touched
	touched = c.considered[:0]
	for _, w := range c.considered {
		w.touched, w.noRoomFor = false, 0
		if w.takesTasks {
			c.setIdle(w, false)
			touched = append(touched, w)
		}
	}
	slices.SortFunc(touched, byName)
	c.tried = c.tried[:0]
	if c.retryIdle && len(c.idle) > 0 {
		wanted = c.forAny()
		for n := 0; wanted != 0 && n < len(c.idle); n++ {
			if w := c.idle[n]; wanted&^w.noRoomFor != 0 {
				c.tried = append(c.tried, w)
			}
		}
	}
	c.retryIdle = false
	return touched, c.tried, wanted
}

func byName(a, b *worker) int { return cmp.Compare(a.record.Name, b.record.Name) }

// setIdle notes whether a worker could get more tasks and there is nothing for it.
func (c *Core) setIdle(w *worker, idle bool) {
	if w.idle == idle {
		return
	}
	w.idle = idle
	at, _ := slices.BinarySearchFunc(c.idle, w, byName)
	if idle {
		c.idle = slices.Insert(c.idle, at, w)
	} else {
		c.idle = slices.Delete(c.idle, at, at+1)
	}
}

// setUndersupplied notes whether a worker has less than half of its prefetch.
func (c *Core) setUndersupplied(w *worker, undersupplied bool) {
	if w.undersupplied != undersupplied {
		w.undersupplied = undersupplied
		if undersupplied {
			c.undersupplied++
		} else {
			c.undersupplied--
		}
	}
}

// fill gives a worker its prefetch or, with onlyFree, what can start there at once: sweeps of the
// highest priority in turn, a batch each, and then, of what they leave, those of the next. The
// tasks that a worker has of a sweep are a part of what it should have of that sweep alone, and its
// parts of all sweeps add up to one. A sweep keeps its turn until it fits: otherwise one of short
// tasks, which always fits, would keep out one of long tasks forever. It reports whether it placed
// anything.
func (c *Core) fill(w *worker, onlyFree bool) (placed bool) {
	free := max(0, w.slots-w.taken())
	if onlyFree && free == 0 && !c.runsBeside(w) {
		return false // as of most workers, and nearly all that a step costs when tasks run out
	}
	f := filling{c: c, w: w, others: c.available > 1, onlyFree: onlyFree, free: free}
	full := f.run()
	if !onlyFree {
		c.setUndersupplied(w, f.used < suppliedShare)
		c.setIdle(w, !full)
	}
	return f.placed
}

// filling is how far a worker has been filled.
type filling struct {
	c        *Core
	w        *worker
	offer    Offer   // what it can take, but for what a sweep adds
	others   bool    // other workers take tasks, too
	onlyFree bool    // it gets what can start at once
	free     int     // slots that its tasks leave
	full     bool    // it has what it should have of tasks that reserve nothing
	tasks    int     // of the worker
	used     float64 // part of its prefetch
	reserved reserving
	placed   bool
}

// run fills the worker. It reports whether the worker is full; otherwise there is nothing more for
// it.
func (f *filling) run() (full bool) {
	name := f.w.record.Name
	f.offer = f.c.offer(f.w)
	for _, h := range f.w.assigned {
		if h.sweep.ledger.HasExclusive(name) {
			return true
		}
		f.count(h.sweep, h.tasks)
	}
	if f.offer.Exclusive && !f.offer.Empty {
		return true
	}
	if a := f.c.gathersFor(f.w); a != nil && f.gather(a) {
		return true
	}
	for n := 0; n < len(f.c.queue.levels); {
		level := f.c.queue.levels[n]
		if full := f.fillFrom(level); full {
			return true
		}
		if n < len(f.c.queue.levels) && f.c.queue.levels[n] == level {
			n++ // it has something left that is not for this worker
		}
	}
	return f.full
}

// fillFrom places tasks of the sweeps of one level, in turn, and reports whether the worker is
// full. A sweep whose tasks do not find what they reserve here keeps its turn, and those behind it
// have theirs. So does one that finds no slot, where others need none.
func (f *filling) fillFrom(r *priorityLevel) (full bool) {
	for passed, kept := 0, 0; passed+kept < r.sweeps.Len(); {
		a := f.next(r, kept)
		reserves := a.ledger.needs.reserved
		if reserves && !f.reserved.fits(f, a) || !reserves && f.full {
			kept++
			continue
		}
		if f.never(a) { // never for this worker as it is
			r.rotate(a)
			passed++
			continue
		}
		more := f.more(a)
		if more == 0 {
			if !f.c.runsBeside(f.w) {
				return true
			}
			f.full = true
			continue
		}
		r.rotate(a)
		if !f.give(a, more) {
			passed++
			continue
		}
		passed = 0
		if a.ledger.HasExclusive(f.offer.Worker) {
			return true
		}
	}
	return false
}

// runsBeside reports whether a worker may start tasks that take none of its slots.
func (c *Core) runsBeside(w *worker) bool {
	return c.reserving > 0 && !w.beat.SlotsChosen && len(w.gpus.devices) > 0
}

// give places a batch of tasks of a sweep, at most so many, and reports whether there were any.
func (f *filling) give(a *activeSweep, most int) bool {
	n := min(batchSize(f.fit(a), a.mean), most)
	tasks := f.c.ledger(a).Place(f.c.offerOf(f.offer, a, n), f.c.now)
	a.ledger.reassigned = a.ledger.reassigned[:0] // only this worker's part did
	f.c.schedule(a)
	if len(tasks) == 0 {
		return false
	}
	f.offer.Empty, f.placed = false, true
	a.ledger.head.Waits, a.waitsSince = "", time.Time{}
	need := &a.ledger.needs
	f.free -= f.w.slotsFor(need) * len(tasks)
	f.count(a, len(tasks))
	if need.reserved {
		a.keptSince = time.Time{}
		r := f.reserved.look(f)
		for _, t := range tasks {
			t.Attempt.Devices = r.take(need)
		}
	}
	f.w.updateAssigned(a)
	b := f.c.batch(f.w, a, tasks)
	b.Follow = f.c.followed(b.Sweep)
	if len(f.w.batches) == 0 {
		f.c.filled = append(f.c.filled, f.w)
	}
	f.w.batches = append(f.w.batches, b)
	return true
}

// offer is what a worker can take, but for what a sweep adds.
func (c *Core) offer(w *worker) Offer {
	return Offer{Worker: w.record.Name, Empty: len(w.assigned) == 0,
		Exclusive: w.record.Name == c.exclusiveWorker, OtherWorkers: c.available > 1}
}

// offerOf is what a worker can take of a sweep.
func (c *Core) offerOf(o Offer, a *activeSweep, tasks int) Offer {
	o.Tasks, o.HasLeftovers, o.Fitting = tasks, a.hasLeftovers, c.fitting(a)
	return o
}

// fitting returns how many tasks of a sweep fit on all workers that take tasks.
func (c *Core) fitting(a *activeSweep) int {
	if a.ledger.maxFails <= 0 { // nobody asks
		return 0
	}
	if n := &a.ledger.needs; !n.reserved && len(n.On) == 0 {
		return c.slots
	}
	if a.fittingAt != c.placements {
		a.fitting, a.fittingAt = 0, c.placements
		for _, w := range c.ordered {
			if w.takesTasks {
				a.fitting += w.fit(a)
			}
		}
	}
	return a.fitting
}

// next returns the sweep whose turn it is, after those that keep theirs.
func (f *filling) next(r *priorityLevel, kept int) *activeSweep {
	if f.c.reserving == 0 {
		return r.front()
	}
	return f.reserved.next(f, r, kept)
}

// never reports whether the worker as it is could run no task of a sweep even with no others.
func (f *filling) never(a *activeSweep) bool {
	if f.fit(a) > 0 {
		return false
	}
	if !f.w.lacks(a) { // other sweeps with these needs may have their files here
		f.w.setNoRoom(&a.ledger.needs)
	}
	return true
}

// fit returns how many tasks of a sweep a worker with no others could run at a time.
func (f *filling) fit(a *activeSweep) int { return f.w.fit(a) }

// target returns how many tasks of a sweep that reserve nothing a worker with no others should
// have. What may be long does not wait for slots where tasks that need GPUs come for them, too.
func (f *filling) target(a *activeSweep) int {
	beside := f.c.reserving > 0 && len(f.w.gpus.devices) > 0
	return prefetchTarget(f.w.slots, a.mean, f.others || beside)
}

// more returns how many more tasks of a sweep the worker may get.
func (f *filling) more(a *activeSweep) (n int) {
	switch {
	case a.ledger.needs.reserved:
		return f.reserved.more(f, a)
	case f.onlyFree:
		return max(0, min(f.free, maxAssigned-f.tasks))
	}
	return remaining(f.target(a), f.used)
}

// count counts tasks of a sweep that the worker has, or is given, to its prefetch.
func (f *filling) count(a *activeSweep, tasks int) {
	f.tasks += tasks
	if n := &a.ledger.needs; n.reserved {
		slots := tasks * f.w.slotsFor(n)
		f.reserved.slots += slots
		f.used += float64(slots) / float64(max(1, f.w.slots))
		return
	}
	f.used += float64(tasks) / float64(max(1, f.target(a)))
}

// batch is what a worker gets to know of tasks that were placed on it.
func (c *Core) batch(w *worker, a *activeSweep, tasks []*Task) task.Batch {
	n := &a.ledger.needs
	b := task.Batch{Version: task.Version, Sweep: a.id(), Recipe: a.record.Recipe,
		Edition: a.edition, Slots: w.slotsFor(n), AtATime: w.fit(a),
		Reserved: n.reserved,
		Attempts: make([]task.Attempt, 0, len(tasks))}
	if e, own := c.memory.Environs[b.Sweep]; own {
		b.BaseEnv, b.Edition = e.Variables, e.Edition
	}
	for _, t := range tasks {
		args, parameters := a.ledger.source.Point(t.Index)
		b.Attempts = append(b.Attempts, task.Attempt{Index: t.Index, Number: t.Attempt.Number,
			Args: args, Parameters: parameters, Devices: t.Attempt.Devices,
			Share: w.share(n, t.Attempt.Devices), Since: t.Since, Fresh: t.Fresh})
	}
	return b
}
