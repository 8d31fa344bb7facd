package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Numbers of the placement: see window and chunk.
const (
	ahead      = 250 * time.Millisecond // work beyond the free slots that a worker has at hand
	batchWork  = 100 * time.Millisecond // work in one batch
	mostAhead  = 4096                   // tasks that a worker has at most
	mostBatch  = 256                    // tasks in one batch
	enough     = 0.5                    // part of its window that a worker must have to be supplied
	longTask   = 5 * time.Second        // tasks of which a slot may wait for the master: some 10 ms are nothing to them
	roundingUp = 1e-9                   // what a sum of fractions may lack
)

// window is how many tasks of a kind a worker should have: one for each slot and 250 ms of work for
// each beyond that, so that no slot waits for the master. Of long ones nothing waits on a worker
// where others could begin it. Mean is the running time of one task; 0 is not known yet, and may be
// long.
func window(slots int, mean time.Duration, others bool) int {
	slots = max(0, min(slots, mostAhead))
	switch {
	case others && (mean <= 0 || mean >= longTask):
		return slots
	case mean <= 0:
		return min(2*slots, mostAhead)
	}
	return min(slots+int(int64(slots)*int64(ahead)/int64(mean))+min(slots, 1), mostAhead)
}

// chunk is how many tasks travel together to a worker: 100 ms of work for it, so that long tasks
// travel alone and short ones cost little.
func chunk(slots int, mean time.Duration) int {
	if mean <= 0 {
		return 1
	}
	return max(1, min(int(int64(batchWork)*int64(max(1, min(slots, mostAhead)))/int64(mean)), mostBatch))
}

// room is how many tasks of a window still fit when a part of it is taken, which is a sum of
// fractions.
func room(window int, taken float64) int {
	return max(0, int((1-taken)*float64(window)+roundingUp))
}

// place hands tasks to workers that have room: to those of which something changed since the last
// placement and, where there may be something for them now, to those for which there was nothing.
func (c *Core) place() {
	c.sync()
	c.dueNow()
	c.countWorkers()
	c.chooseEmptied()
	touched, hungry := c.candidates()
	for _, onlyFree := range []bool{true, false} { // no task waits while it fits on another worker
		c.fillAll(touched, hungry, onlyFree)
	}
	slices.SortFunc(c.filled, byName)
	for _, w := range c.filled {
		c.send(Message{Worker: w.record.Name, Batches: w.batches})
		w.batches = nil
	}
	c.filled = c.filled[:0]
}

// fillAll fills workers by name: those that were touched, and hungry ones as long as there is
// something that any worker may have.
func (c *Core) fillAll(touched, hungry []*worker, onlyFree bool) {
	for len(touched)+len(hungry) > 0 {
		if len(hungry) == 0 || len(touched) > 0 && byName(touched[0], hungry[0]) < 0 {
			c.fill(touched[0], onlyFree)
			touched = touched[1:]
			continue
		}
		if placed := c.fill(hungry[0], onlyFree); placed && !c.forAny() {
			hungry = hungry[:1]
		}
		hungry = hungry[1:]
	}
}

// forAny reports whether there is something to place that any hungry worker may have.
func (c *Core) forAny() bool {
	empty := len(c.withExclusive) > 0 &&
		slices.ContainsFunc(c.hungry, func(w *worker) bool { return len(w.held) == 0 })
	for _, r := range c.turns.ranks {
		for e := r.sweeps.Front(); e != nil; e = e.Next() {
			if e.Value.(*activeSweep).ledger.forAny(c.now, c.taking > 1, empty) {
				return true
			}
		}
	}
	return false
}

// countWorkers brings up to date who takes tasks, of the workers that are to be considered.
func (c *Core) countWorkers() {
	for _, w := range c.touched {
		takes, capacity := c.workers[w.record.Name] == w && w.available(), Resources{}
		if takes {
			capacity = w.usable()
		}
		if takes != w.takes || capacity != w.capacity {
			c.offered = true // a task may have to avoid no other worker now, or fit
		}
		if w.takes {
			c.taking--
		}
		if takes {
			c.taking++
		}
		c.capacity = c.capacity.Take(w.capacity).Release(capacity)
		w.takes, w.capacity = takes, capacity
		if !takes {
			c.setHungry(w, false)
			c.setLacks(w, false)
		}
	}
}

// candidates are the workers to be filled: those that were touched and, where there may be
// something for them now, the hungry ones, both by name. They are valid until the next call.
func (c *Core) candidates() (touched, hungry []*worker) {
	c.touched, c.considered = c.considered[:0], c.touched
	touched = c.considered[:0]
	for _, w := range c.considered {
		w.touched = false
		if w.takes {
			c.setHungry(w, false)
			touched = append(touched, w)
		}
	}
	slices.SortFunc(touched, byName)
	if c.offered && len(c.hungry) > 0 && c.forAny() {
		c.tried = append(c.tried[:0], c.hungry...)
		hungry = c.tried
	}
	c.offered = false
	return touched, hungry
}

func byName(a, b *worker) int { return cmp.Compare(a.record.Name, b.record.Name) }

// setHungry notes whether a worker has room and there is nothing for it.
func (c *Core) setHungry(w *worker, hungry bool) {
	if w.hungry == hungry {
		return
	}
	w.hungry = hungry
	at, _ := slices.BinarySearchFunc(c.hungry, w, byName)
	if hungry {
		c.hungry = slices.Insert(c.hungry, at, w)
	} else {
		c.hungry = slices.Delete(c.hungry, at, at+1)
	}
}

// setLacks notes whether a worker has less than half of what it should have at hand.
func (c *Core) setLacks(w *worker, lacks bool) {
	if w.lacks != lacks {
		w.lacks = lacks
		if lacks {
			c.lacking++
		} else {
			c.lacking--
		}
	}
}

// fill gives one worker what it has room for, or, when asked, only what can begin there: sweeps of
// the highest priority in turn, a batch each, and then, of what they leave, those of the next. What
// a worker has of a sweep takes its part of that sweep's window, and all parts together are one. A
// sweep keeps its turn until there is room for it: else one of short tasks, for which there is room
// all the time, would keep one of long tasks out for ever.
// fill reports whether it placed anything.
func (c *Core) fill(w *worker, onlyFree bool) (placed bool) {
	f := filling{c: c, w: w, others: c.taking > 1, onlyFree: onlyFree, free: w.capacity}
	full := f.run()
	if !onlyFree {
		c.setLacks(w, f.taken < enough)
		c.setHungry(w, !full)
	}
	return f.placed
}

// filling is how far a worker has been filled.
type filling struct {
	c        *Core
	w        *worker
	others   bool      // other workers take tasks, too
	onlyFree bool      // it gets what can begin at once
	free     Resources // what its tasks leave
	tasks    int       // that it has
	taken    float64   // part of the window
	placed   bool
}

// run fills the worker. It reports whether the worker has no room for more, rather than that there
// is nothing more for it.
func (f *filling) run() (full bool) {
	name := f.w.record.Name
	offer := Offer{Worker: name, Empty: len(f.w.held) == 0, Exclusive: name == f.c.emptied,
		OtherWorkers: f.others, Capacity: f.c.capacity}
	for _, h := range f.w.held {
		if h.sweep.ledger.HasExclusive(name) {
			return true
		}
		f.take(h.sweep, h.tasks)
	}
	if offer.Exclusive && !offer.Empty {
		return true
	}
	for n := 0; n < len(f.c.turns.ranks); {
		rank := f.c.turns.ranks[n]
		if full := f.rank(rank, &offer); full {
			return true
		}
		if n < len(f.c.turns.ranks) && f.c.turns.ranks[n] == rank {
			n++ // it has something left that is not for this worker
		}
	}
	return false
}

// rank places tasks of the sweeps of one rank, in turn, and reports whether the worker is full.
func (f *filling) rank(r *rank, offer *Offer) (full bool) {
	for passed := 0; passed < r.sweeps.Len(); {
		a := r.next()
		if !f.w.reads(a.version) {
			r.pass(a)
			passed++
			continue
		}
		room := f.room(a)
		if room == 0 {
			return true
		}
		r.pass(a)
		offer.Tasks, offer.HasLeftovers = min(chunk(f.fit(a), a.mean), room), a.hasLeftovers
		tasks := f.c.ledger(a).Place(*offer, f.c.now)
		a.ledger.moved = a.ledger.moved[:0] // only this worker's part did
		f.c.schedule(a)
		if len(tasks) == 0 {
			passed++
			continue
		}
		passed, offer.Empty, f.placed = 0, false, true
		f.take(a, len(tasks))
		f.w.holds(a)
		b := f.c.batch(a, tasks)
		b.Follow = f.c.followed(b.Sweep)
		if len(f.w.batches) == 0 {
			f.c.filled = append(f.c.filled, f.w)
		}
		f.w.batches = append(f.w.batches, b)
		if a.ledger.HasExclusive(offer.Worker) {
			return true
		}
	}
	return false
}

// fit returns how many tasks of a sweep a worker with no others could run at a time.
func (f *filling) fit(a *activeSweep) int { return f.w.capacity.Count(a.ledger.needs()) }

// window returns how many tasks of a sweep a worker with no others should have.
func (f *filling) window(a *activeSweep) int { return window(f.fit(a), a.mean, f.others) }

// room returns how many more tasks of a sweep the worker has room for.
func (f *filling) room(a *activeSweep) int {
	if f.onlyFree {
		return max(0, min(f.free.Count(a.ledger.needs()), mostAhead-f.tasks))
	}
	return room(f.window(a), f.taken)
}

// take notes that the worker has tasks of a sweep.
func (f *filling) take(a *activeSweep, tasks int) {
	f.free = f.free.Take(a.ledger.needs().Times(tasks))
	f.tasks += tasks
	f.taken += float64(tasks) / float64(max(1, f.window(a)))
}

// chooseEmptied chooses a worker that gets nothing but an exclusive task, where one has waited
// long.
func (c *Core) chooseEmptied() {
	version := c.exclusiveVersion()
	if version == 0 {
		c.setEmptied("")
		return
	}
	if w := c.workers[c.emptied]; w != nil && w.available() && w.reads(version) {
		return
	}
	for _, w := range c.ordered {
		if w.available() && w.reads(version) {
			c.setEmptied(w.record.Name)
			return
		}
	}
	c.setEmptied("")
}

// setEmptied lets a worker be emptied, and the one before it take everything again.
func (c *Core) setEmptied(name string) {
	if name == c.emptied {
		return
	}
	for _, changed := range []string{c.emptied, name} {
		if w := c.workers[changed]; w != nil {
			c.consider(w)
		}
	}
	c.emptied = name
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
	return !c.turns.empty() && c.turns.ranks[0].priority > a.record.Priority
}

// batch is what a worker gets to know of tasks that were placed on it.
func (c *Core) batch(a *activeSweep, tasks []*Task) task.Batch {
	b := task.Batch{Version: a.version, Sweep: a.id(), Recipe: a.record.Recipe, Edition: a.edition,
		Attempts: make([]task.Attempt, 0, len(tasks))}
	if e, own := c.memory.Environs[b.Sweep]; own {
		b.Environ, b.Edition = e.Variables, e.Edition
	}
	for _, t := range tasks {
		b.Attempts = append(b.Attempts, task.Attempt{Index: t.Index, Number: t.Try.Number,
			Args: a.points.Flags(nil, t.Index), Parameters: a.points.Given(t.Index)})
	}
	return b
}
