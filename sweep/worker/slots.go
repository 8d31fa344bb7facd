package worker

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// maxSlots limits what a control message can ask for. Each slot costs a goroutine.
const maxSlots = 1 << 12

// resize sets how many attempts run at a time; 0 restores the number that the worker was started
// with. New slots take attempts at once; a surplus slot disappears when its attempt ends.
func (w *Worker) resize(ctx context.Context, slots int) {
	if slots < 0 || slots > maxSlots {
		w.o.Log.Warn("number of slots refused", "slots", slots, "most", maxSlots)
		return
	}
	if slots == 0 {
		slots = w.o.Slots
	}
	w.scheduler.resize(slots, func(n int) {
		w.attempts.Go(func() { w.runSlot(ctx, n) })
	})
}

// yieldEvery is how often a slot yields to Go's scheduler. A goroutine that blocks only in system
// calls looks to Go's monitor like one that runs too long: after 10 ms it is preempted with a
// signal, and the monitor polls every 20 us from then on (runtime.sysmon and runtime.retake of Go
// 1.26). To yield costs a change of threads.
const yieldEvery = 5 * time.Millisecond

// runSlot runs attempts in a slot, one after the other.
func (w *Worker) runSlot(ctx context.Context, n int) {
	var yielded time.Time
	for {
		i, attempt, ok := w.scheduler.take(ctx, n)
		if !ok {
			return
		}
		w.runItem(attempt, i, n)
		if now := time.Now(); now.Sub(yielded) > yieldEvery {
			runtime.Gosched()
			yielded = now
		}
	}
}

// runningAttempt is an attempt in a slot.
type runningAttempt struct {
	slot    int
	cancel  context.CancelCauseFunc
	started *task.Event // nil until its program runs
	// its end is reported; processes that its program left behind are being ended
	ended bool
}

// take waits for the next item that slot may run. The item occupies the slot until release; attempt
// is its context, which stop cancels. Ok is false, and the slot inactive, when the scheduler is
// closed, ctx has ended, or the slot is surplus after a resize.
func (d *scheduler) take(ctx context.Context, slot int) (i item, attempt context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.next()
	for ; n < 0 && !d.closed && slot < d.slots; n = d.next() {
		d.ready.Wait()
	}
	if d.closed || ctx.Err() != nil || slot >= d.slots {
		delete(d.activeSlots, slot)
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
	d.running[i.key()] = &runningAttempt{slot: slot, cancel: cancel}
	return i, attempt, true
}

// start reports that the program of an item has started.
func (d *scheduler) start(i item, s task.Start) task.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := i.event(task.StartedEvent, d.worker)
	e.Start = &s
	d.running[i.key()].started = &e
	d.outbox.put(e)
	return e
}

// finish reports the outcome of an item, which keeps its slot until release. With leftovers,
// processes that its program left behind are still being ended.
func (d *scheduler) finish(i item, o task.Outcome, leftovers bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := i.key()
	d.running[k].ended = true
	e := i.event(task.EndedEvent, d.worker)
	e.Outcome, e.Leftovers = &o, leftovers
	if started := d.running[k].started; started != nil {
		e.Start = started.Start
	}
	d.observeDuration(o.Duration)
	d.recent.ended(k, e)
	d.outbox.put(e)
	d.countHostFaults(&o)
	if d.runningLow() {
		d.outbox.expedite()
	}
}

// release frees the slot of an item.
func (d *scheduler) release(i item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := i.key()
	d.running[k].cancel(nil)
	delete(d.running, k)
	if d.blockedByTask {
		d.ready.Broadcast()
	}
	d.signalIdle()
}

// returnRunning returns an item that is in a slot and could not start.
func (d *scheduler) returnRunning(i item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[i.key()].ended = true
	d.recent.returned(i.key())
	d.outbox.put(i.event(task.ReturnedEvent, d.worker))
}

// resize sets the number of slots and calls start for each new one. After close it starts none.
func (d *scheduler) resize(slots int, start func(n int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots = slots
	for n := range slots {
		if !d.activeSlots[n] && !d.closed {
			d.activeSlots[n] = true
			start(n)
		}
	}
	d.ready.Broadcast()
}

func (d *scheduler) slotCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slots
}

// observeDuration adds the duration of an attempt to the moving average. The caller holds the lock.
func (d *scheduler) observeDuration(took time.Duration) {
	d.meanDuration += (took - d.meanDuration) / 8
}

// countHostFaults drains the worker after several host faults in a row, so that a broken host does
// not burn through the queue before the master reacts. The master, which counts as well, decides
// when the worker accepts work again. The caller holds the lock.
func (d *scheduler) countHostFaults(o *task.Outcome) {
	switch {
	case o.HostFault():
		d.hostFaults++
	case o.Ran():
		d.hostFaults = 0
	}
	if d.hostFaults >= task.MostHostFaults && !d.drained && !d.soleWorker {
		d.drained = true
		d.returnAll()
		d.outbox.expedite()
	}
}

// stopSuperseded stops earlier attempts of an item's task: by sending a newer one, the master has
// superseded them.
func (d *scheduler) stopSuperseded(i item) {
	for k, s := range d.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep && k.number < i.attempt.Number {
			s.cancel(errStopped)
		}
	}
}

// taskRunning reports whether another attempt of an item's task is in a slot.
func (d *scheduler) taskRunning(i item) bool {
	for k := range d.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep {
			return true
		}
	}
	return false
}

// retire returns all waiting items, and all that arrive later, for good.
func (d *scheduler) retire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retiring, d.drained = true, true
	d.returnAll()
	d.signalIdle()
}

// signalIdle closes idle once a retiring scheduler has no running attempt. The caller holds the
// lock.
func (d *scheduler) signalIdle() {
	if !d.retiring || len(d.running) > 0 {
		return
	}
	select {
	case <-d.idle:
	default:
		close(d.idle)
	}
}

// workReserve is the amount of work per slot below which ends are reported without delay.
const workReserve = 50 * time.Millisecond

// runningLow reports whether slots may soon run out of work unless the master is told at once. The
// caller holds the lock.
func (d *scheduler) runningLow() bool {
	return len(d.waiting) == 0 ||
		time.Duration(len(d.waiting))*d.meanDuration <= time.Duration(d.slots)*workReserve
}

// describe fills in the scheduler's part of a heartbeat.
func (d *scheduler) describe(h *task.Heartbeat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h.Slots, h.Draining, h.Leaving, h.Waiting = d.slots, d.drained ||
		d.closed, d.retiring, len(d.waiting)
	h.Refuses, h.Needs = cmp.Or(d.rejectReason, d.noSpaceReason), d.missingSecrets()
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
