package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/task"
)

// desk holds the attempts that were claimed: those that wait for a slot, first come, first served, and those in slots.
// An attempt is at one place at a time, so that who wants to stop it finds it. What becomes of an attempt is told under
// the lock under which it happens: events of one attempt are in the order of what they report, also when it is told again.
type desk struct {
	worker  string
	out     *outbox
	secrets *secrets

	mu      sync.Mutex
	some    sync.Cond
	arrived map[key]bool // claimed, and not put down yet; true: meanwhile somebody wanted it back
	waiting []item
	running map[key]*stay
	known   known
	slots   int           // attempts at a time
	mean    time.Duration // of what ended lately; 0: nothing has
	open    map[int]bool  // slots that somebody takes attempts for, also those that are too many and still busy
	held    bool          // something waits only for an attempt of the same task
	drained bool          // nothing new is taken
	faults  int           // host faults in a row
	alone   bool          // no other worker could run what this one cannot
	noRoom  string        // why nothing is taken for want of space; "": there is some
	refuses string        // why the master's tasks cannot be taken; "": they can
	closed  bool
	leaving bool          // nothing new is taken ever again
	empty   chan struct{} // closed when it is leaving and the last slot is free
}

// stay is an attempt in its slot.
type stay struct {
	slot    int
	cancel  context.CancelCauseFunc
	started *task.Event // nil until its program runs
	ended   bool        // its end is told, and processes that its program left are being ended
}

func (d *desk) init(worker string, slots int, out *outbox, s *secrets) {
	d.worker, d.slots, d.out, d.secrets = worker, slots, out, s
	d.some.L = &d.mu
	d.arrived, d.running, d.open = map[key]bool{}, map[key]*stay{}, map[int]bool{}
	d.empty = make(chan struct{})
	d.known.init()
}

// claim tells that attempts arrived, and returns those that are new. Of one that is known it tells again where it
// stands, so that a master whose queue lost events learns it.
func (d *desk) claim(items []item) (fresh []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	events := make([]task.Event, 0, len(items))
	for _, i := range items {
		if d.known.has(i.key()) {
			events = append(events, d.again(i))
			continue
		}
		fresh = append(fresh, i)
		d.arrived[i.key()] = false
		events = append(events, i.event(task.ClaimedEvent, d.worker))
	}
	d.out.put(events...)
	if d.low() {
		d.out.hurry()
	}
	return fresh
}

// reserve is the work that a slot has at hand when the master hears of its ends in time.
const reserve = 50 * time.Millisecond

// low tells that slots may soon have nothing to do, unless the master knows at once. The caller holds the lock.
func (d *desk) low() bool {
	return len(d.waiting) == 0 || time.Duration(len(d.waiting))*d.mean <= time.Duration(d.slots)*reserve
}

// learn notes how long an attempt ran. The caller holds the lock.
func (d *desk) learn(took time.Duration) { d.mean += (took - d.mean) / 8 }

// lose forgets items that were claimed and come again.
func (d *desk) lose(items []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range items {
		delete(d.arrived, i.key())
	}
}

// again is the event that says where a known attempt stands.
func (d *desk) again(i item) task.Event {
	switch s := d.running[i.key()]; {
	case s == nil || s.ended:
		return d.known.event(i, d.worker)
	case s.started != nil:
		return *s.started
	}
	return i.event(task.ClaimedEvent, d.worker)
}

// put adds items that are not known. What somebody wanted back meanwhile is given back, and everything when nothing new
// is taken.
func (d *desk) put(items []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unwanted := map[key]bool{}
	for _, i := range items {
		if d.arrived[i.key()] {
			unwanted[i.key()] = true
		}
		delete(d.arrived, i.key())
		if !d.known.has(i.key()) {
			d.known.add(i.key())
			d.waiting = append(d.waiting, i)
			d.follow(i)
		}
	}
	d.some.Broadcast()
	if d.drained || d.closed || d.noRoom != "" {
		d.giveBack(func(item) bool { return true })
	} else if len(unwanted) > 0 {
		d.giveBack(func(i item) bool { return unwanted[i.key()] })
	}
}

// wantBack notes that what has arrived and is meant is not to begin.
func (d *desk) wantBack(meant func(key) bool) {
	for k := range d.arrived {
		if meant(k) {
			d.arrived[k] = true
		}
	}
}

// take waits for the next item for a slot, which from then on is in it until done; ctx is the attempt's, which stop ends.
// It is false when the desk is closed, ctx has ended, or there are fewer slots by now: then the slot is not open any more.
func (d *desk) take(ctx context.Context, slot int) (i item, attempt context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.next()
	for ; n < 0 && !d.closed && slot < d.slots; n = d.next() {
		d.some.Wait()
	}
	if d.closed || ctx.Err() != nil || slot >= d.slots {
		delete(d.open, slot)
		return item{}, nil, false
	}
	i = d.waiting[n]
	if n == 0 {
		d.waiting[0] = item{}
		d.waiting = d.waiting[1:]
	} else {
		d.waiting = slices.Delete(d.waiting, n, n+1)
	}
	attempt, cancel := context.WithCancelCause(ctx)
	d.running[i.key()] = &stay{slot: slot, cancel: cancel}
	return i, attempt, true
}

// begin tells that the program of an item runs.
func (d *desk) begin(i item, s task.Start) task.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := i.event(task.StartedEvent, d.worker)
	e.Start = &s
	d.running[i.key()].started = &e
	d.out.put(e)
	return e
}

// end tells how an item ended, which stays in its slot until free: with leftovers, processes of it are still being ended.
func (d *desk) end(i item, o task.Outcome, leftovers bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := i.key()
	d.running[k].ended = true
	e := i.event(task.EndedEvent, d.worker)
	e.Outcome, e.Leftovers = &o, leftovers
	if started := d.running[k].started; started != nil {
		e.Start = started.Start
	}
	d.learn(o.Duration)
	d.known.ended(k, e)
	d.out.put(e)
	d.judge(&o)
	if d.low() {
		d.out.hurry()
	}
}

// free takes an item out of its slot.
func (d *desk) free(i item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := i.key()
	d.running[k].cancel(nil)
	delete(d.running, k)
	if d.held {
		d.some.Broadcast()
	}
	d.left()
}

// stop ends an attempt that is in a slot, and gives back one that waits.
func (d *desk) stop(k key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.running[k]; s != nil {
		s.cancel(errStopped)
		return
	}
	d.wantBack(func(have key) bool { return have == k })
	d.giveBack(func(i item) bool { return i.key() == k })
}

// recall gives back what waits of a sweep.
func (d *desk) recall(sweep string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wantBack(func(k key) bool { return k.sweep == sweep })
	d.giveBack(func(i item) bool { return i.job.sweep == sweep })
}

// drain gives back what waits and from then on all that arrives, or ends that.
func (d *desk) drain(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drained, d.refuses, d.faults = on || d.leaving, "", 0; d.drained {
		d.takeNothing()
	}
}

// takeNothing gives back what waits and what has arrived. The caller holds the lock.
func (d *desk) takeNothing() {
	d.wantBack(func(key) bool { return true })
	d.giveBack(func(item) bool { return true })
}

// resize changes the number of slots, and starts those that are new: before close returns, if at all.
func (d *desk) resize(slots int, start func(n int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots = slots
	for n := range slots {
		if !d.open[n] && !d.closed {
			d.open[n] = true
			start(n)
		}
	}
	d.some.Broadcast()
}

func (d *desk) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slots
}

// close ends every take, and gives back what waits.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.some.Broadcast()
	d.giveBack(func(item) bool { return true })
}

// giveBack takes out what waits and is meant. The caller holds the lock.
func (d *desk) giveBack(meant func(item) bool) {
	var kept []item
	var events []task.Event
	for _, i := range d.waiting {
		if !meant(i) {
			kept = append(kept, i)
			continue
		}
		d.known.returned(i.key())
		events = append(events, i.event(task.ReturnedEvent, d.worker))
	}
	if d.waiting = kept; len(events) > 0 {
		d.out.put(events...)
	}
}

// show tells what a heartbeat says of the desk.
func (d *desk) show(h *task.Heartbeat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h.Slots, h.Draining, h.Leaving, h.Waiting = d.slots, d.drained || d.closed, d.leaving, len(d.waiting)
	h.Refuses, h.Needs = cmp.Or(d.refuses, d.noRoom), d.needs()
	for k, s := range d.running {
		busy := task.Busy{Sweep: k.sweep, Index: k.index, Attempt: k.number, Slot: s.slot}
		if s.started != nil {
			busy.Started = s.started.Time
		}
		switch {
		case s.ended:
			h.Ending++
			h.Leftovers = append(h.Leftovers, busy)
		case s.started == nil:
			h.Waiting++
		default:
			h.Running = append(h.Running, busy)
		}
	}
	bySlot := func(a, b task.Busy) int { return cmp.Compare(a.Slot, b.Slot) }
	slices.SortFunc(h.Running, bySlot)
	slices.SortFunc(h.Leftovers, bySlot)
}
