package worker

import (
	"cmp"
	"context"
	"maps"
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
	chosen := slots > 0
	if !chosen {
		slots, chosen = w.o.Slots, w.slotsChosen
	}
	w.scheduler.resize(slots, chosen, func(n int) {
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
		if len(i.gpus.Devices) > 0 {
			w.noteGPULockFault()
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
	takes   int      // slots
	gpus    []string // UUIDs
	cancel  context.CancelCauseFunc
	started *task.Event // nil until its program runs
	idle    task.Idle
	// since which look its GPUs have been idle; zero: they are not
	idleSince time.Time
	// its end is reported; processes that its program left behind are being ended
	ended bool
}

// take waits for the next item that a slot may run. The item occupies the slot until release;
// attempt is its context, which stop cancels. Ok is false, and the slot inactive, when the scheduler
// is closed, ctx has ended, or the slot is surplus: after a resize, or because nothing that takes no
// slot is left.
func (s *scheduler) take(ctx context.Context, slot int) (i item, attempt context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := -1
	for n < 0 {
		if s.closed || ctx.Err() != nil || slot >= s.slots && s.beside == 0 {
			delete(s.activeSlots, slot)
			return item{}, nil, false
		}
		if n = s.nextRunnable(); n < 0 {
			s.idleSlots++
			s.ready.Wait()
			s.idleSlots--
		} else if !s.lockGPUs(s.waiting[n].gpus) {
			n = -1 // another may run, or this one on other GPUs
		}
	}
	i = s.waiting[n]
	if n == 0 {
		s.waiting[0] = item{}
		s.waiting = s.waiting[1:]
	} else {
		s.waiting = slices.Delete(s.waiting, n, n+1)
	}
	attempt, cancel := context.WithCancelCause(ctx)
	takes := s.takes(i)
	r := &runningAttempt{slot: slot, takes: takes, cancel: cancel, idle: i.job.recipe.Idle}
	for _, d := range i.gpus.Devices {
		r.gpus = append(r.gpus, d.UUID)
	}
	s.running[i.key()] = r
	s.usedSlots += takes
	if i.reserved {
		s.reserved--
	}
	s.gpus.take(i.key(), i.gpus)
	s.addSlot()
	return i, attempt, true
}

// start reports that the program of an item has started.
func (s *scheduler) start(i item, start task.Start) task.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := i.event(task.StartedEvent, s.worker)
	e.Start = &start
	s.running[i.key()].started = &e
	s.outbox.put(e)
	return e
}

// finish reports the outcome of an item, which keeps its slot until release. With leftovers,
// processes that its program left behind are still being ended.
func (s *scheduler) finish(i item, o task.Outcome, leftovers bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	makePrintable(&o)
	k := i.key()
	s.running[k].ended = true
	e := i.event(task.EndedEvent, s.worker)
	e.Outcome, e.Leftovers = &o, leftovers
	if started := s.running[k].started; started != nil {
		e.Start = started.Start
	}
	s.observeDuration(o.Duration)
	s.recent.ended(k, e)
	s.outbox.put(e)
	s.countHostFaults(&o)
	if s.runningLow() {
		s.outbox.expedite()
	}
}

// release frees the slot and the GPUs of an item.
func (s *scheduler) release(i item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := i.key()
	s.running[k].cancel(nil)
	s.usedSlots -= s.running[k].takes
	delete(s.running, k)
	if i.slots == 0 {
		s.beside--
	}
	s.releaseGPUs(k)
	if s.blockedByTask || i.slots != 1 || s.idleSlots > 0 {
		s.ready.Broadcast()
	}
	s.signalIdle()
}

// returnRunning returns an item that is in a slot and could not start.
func (s *scheduler) returnRunning(i item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[i.key()].ended = true
	s.recent.returned(i.key())
	s.outbox.put(i.event(task.ReturnedEvent, s.worker))
}

// addSlot starts one more slot where all are busy and one of the attempts takes none of them: what
// waits may run. The caller holds the lock.
func (s *scheduler) addSlot() {
	if s.beside == 0 || s.idleSlots > 0 || len(s.waiting) == 0 || s.closed ||
		len(s.activeSlots) >= maxSlots {
		return
	}
	n := 0
	for s.activeSlots[n] {
		n++
	}
	s.activeSlots[n] = true
	s.startSlot(n)
}

// resize sets the number of slots and calls start for each new one. After close it starts none.
func (s *scheduler) resize(slots int, chosen bool, start func(n int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots, s.slotsChosen, s.startSlot = slots, chosen, start
	for n := range slots {
		if !s.activeSlots[n] && !s.closed {
			s.activeSlots[n] = true
			start(n)
		}
	}
	s.ready.Broadcast()
}

func (s *scheduler) slotCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots
}

// observeDuration adds the duration of an attempt to the moving average. The caller holds the lock.
func (s *scheduler) observeDuration(took time.Duration) {
	s.meanDuration += (took - s.meanDuration) / 8
}

// stopSuperseded stops earlier attempts of an item's task: by sending a newer one, the master has
// superseded them.
func (s *scheduler) stopSuperseded(i item) {
	for k, r := range s.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep && k.number < i.attempt.Number {
			r.cancel(errStopped)
		}
	}
}

// taskRunning reports whether another attempt of an item's task is in a slot.
func (s *scheduler) taskRunning(i item) bool {
	for k := range s.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep {
			return true
		}
	}
	return false
}

// retire returns all waiting items, and all that arrive later, for good.
func (s *scheduler) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retiring, s.drained = true, true
	s.returnAll()
	s.signalIdle()
}

// signalIdle closes idle once a retiring scheduler has no running attempt. The caller holds the
// lock.
func (s *scheduler) signalIdle() {
	if !s.retiring || len(s.running) > 0 {
		return
	}
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

// workReserve is the amount of work per slot below which ends are reported without delay.
const workReserve = 50 * time.Millisecond

// runningLow reports whether slots may soon run out of work unless the master is told at once. The
// caller holds the lock.
func (s *scheduler) runningLow() bool {
	return len(s.waiting) == 0 ||
		time.Duration(len(s.waiting))*s.meanDuration <= time.Duration(s.slots)*workReserve
}

// describe fills in the scheduler's part of a heartbeat.
func (s *scheduler) describe(h *task.Heartbeat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Slots, h.SlotsChosen, h.Waiting = s.slots, s.slotsChosen, len(s.waiting)
	h.GPUs = s.gpus.describe()
	h.GPUFault = s.gpus.unlisted()
	h.Draining, h.Leaving, h.Closing = s.drained || s.closed, s.retiring, s.closed
	h.Lacks = slices.Sorted(maps.Keys(s.lacking))
	h.Refuses, h.Needs = cmp.Or(s.rejectReason, s.noSpaceReason), s.missingSecrets()
	for k, r := range s.running {
		busy := task.Busy{Sweep: k.sweep, Index: k.index, Attempt: k.number, Slot: r.slot,
			GPUs: r.gpus}
		if r.started != nil {
			busy.Started = r.started.Time
		}
		switch {
		case r.ended:
			h.Ending += r.takes
			h.Leftovers = append(h.Leftovers, busy)
		case r.started == nil:
			h.Waiting++
		default:
			h.Running = append(h.Running, busy)
		}
	}
	bySlot := func(a, b task.Busy) int { return cmp.Compare(a.Slot, b.Slot) }
	slices.SortFunc(h.Running, bySlot)
	slices.SortFunc(h.Leftovers, bySlot)
}
