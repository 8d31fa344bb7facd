package worker

import (
	"slices"
	"sync"
	"time"

	"mlframework/sweep/task"
)

// scheduler holds claimed attempts: those that wait for a slot, in order of arrival, and those that
// are in slots. An attempt is in exactly one of these places at any time, so that a stop always
// finds it. Events are put into the outbox under the lock that guards the change they report, so
// that the events of one attempt are in the order of its changes, also when they are repeated.
type scheduler struct {
	worker  string
	outbox  *outbox
	secrets *secretStore

	mu    sync.Mutex
	ready sync.Cond
	// claimed but not yet queued; true if a stop, recall or drain came in between
	claimed map[key]bool
	waiting []item
	running map[key]*runningAttempt
	recent  recentAttempts
	slots   int // attempts at a time
	// moving average over recent attempts; 0 before the first has ended
	meanDuration time.Duration
	// slots with a goroutine, including surplus ones that are still busy
	activeSlots map[int]bool
	// an attempt waits only for another attempt of the same task
	blockedByTask bool
	// nothing new is accepted
	drained    bool
	hostFaults int // host faults in a row
	// no other worker could run what this one cannot
	soleWorker bool
	// why nothing is accepted while the disk is full; "": the disk has space
	noSpaceReason string
	// why the master's batches cannot be accepted; "": they can
	rejectReason string
	closed       bool
	// nothing new will ever be accepted again
	retiring bool
	// closed when the scheduler is retiring and the last slot is free
	idle chan struct{}
}

func (d *scheduler) init(worker string, slots int, out *outbox, s *secretStore) {
	d.worker, d.slots, d.outbox, d.secrets = worker, slots, out, s
	d.ready.L = &d.mu
	d.claimed, d.running, d.activeSlots = map[key]bool{}, map[key]*runningAttempt{}, map[int]bool{}
	d.idle = make(chan struct{})
	d.recent.init()
}

// claim reports the arrival of attempts and returns the new ones. For a known attempt it repeats
// the current event, so that a master whose queue lost events catches up.
func (d *scheduler) claim(items []item) (fresh []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	events := make([]task.Event, 0, len(items))
	for _, i := range items {
		if d.recent.has(i.key()) {
			events = append(events, d.currentEvent(i))
			continue
		}
		fresh = append(fresh, i)
		d.claimed[i.key()] = false
		events = append(events, i.event(task.ClaimedEvent, d.worker))
	}
	d.outbox.put(events...)
	if d.runningLow() {
		d.outbox.expedite()
	}
	return fresh
}

// unclaim forgets claimed items whose delivery was not acknowledged: they will be delivered again.
func (d *scheduler) unclaim(items []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range items {
		delete(d.claimed, i.key())
	}
}

// currentEvent returns the event that describes the current state of a known attempt.
func (d *scheduler) currentEvent(i item) task.Event {
	switch s := d.running[i.key()]; {
	case s == nil || s.ended:
		return d.recent.event(i, d.worker)
	case s.started != nil:
		return *s.started
	}
	return i.event(task.ClaimedEvent, d.worker)
}

// enqueue adds items to the waiting queue unless they are known. It returns those that were stopped
// or recalled since they were claimed, and all of them while nothing new is accepted.
func (d *scheduler) enqueue(items []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unwanted := map[key]bool{}
	for _, i := range items {
		if d.claimed[i.key()] {
			unwanted[i.key()] = true
		}
		delete(d.claimed, i.key())
		if !d.recent.has(i.key()) {
			d.recent.add(i.key())
			d.waiting = append(d.waiting, i)
			d.stopSuperseded(i)
		}
	}
	d.ready.Broadcast()
	if d.drained || d.closed || d.noSpaceReason != "" {
		d.returnWaiting(func(item) bool { return true })
	} else if len(unwanted) > 0 {
		d.returnWaiting(func(i item) bool { return unwanted[i.key()] })
	}
}

// markUnwanted marks claimed items that match: enqueue returns them to the master.
func (d *scheduler) markUnwanted(meant func(key) bool) {
	for k := range d.claimed {
		if meant(k) {
			d.claimed[k] = true
		}
	}
}

// stop cancels an attempt that is in a slot, and returns one that waits.
func (d *scheduler) stop(k key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.running[k]; s != nil {
		s.cancel(errStopped)
		return
	}
	d.markUnwanted(func(have key) bool { return have == k })
	d.returnWaiting(func(i item) bool { return i.key() == k })
}

// recall returns the waiting items of a sweep to the master.
func (d *scheduler) recall(sweep string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.markUnwanted(func(k key) bool { return k.sweep == sweep })
	d.returnWaiting(func(i item) bool { return i.job.sweep == sweep })
}

// drain starts or ends draining. While draining, waiting items and all that arrive are returned.
func (d *scheduler) drain(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drained, d.rejectReason, d.hostFaults = on || d.retiring, "", 0; d.drained {
		d.returnAll()
	}
}

// returnAll returns all waiting and claimed items. The caller holds the lock.
func (d *scheduler) returnAll() {
	d.markUnwanted(func(key) bool { return true })
	d.returnWaiting(func(item) bool { return true })
}

// close makes every take return false and returns the waiting items.
func (d *scheduler) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.ready.Broadcast()
	d.returnWaiting(func(item) bool { return true })
}

// returnWaiting returns the waiting items that match. The caller holds the lock.
func (d *scheduler) returnWaiting(meant func(item) bool) {
	var kept []item
	var events []task.Event
	for _, i := range d.waiting {
		if !meant(i) {
			kept = append(kept, i)
			continue
		}
		d.recent.returned(i.key())
		events = append(events, i.event(task.ReturnedEvent, d.worker))
	}
	if d.waiting = kept; len(events) > 0 {
		d.outbox.put(events...)
	}
}

// next returns the index of the first waiting item that may start, or a negative number if there is
// none. Attempts of one task share a folder and never run at the same time.
func (d *scheduler) next() int {
	d.blockedByTask = false
	if d.noSpaceReason != "" {
		return -1 // what waits is about to be given back
	}
	for n, i := range d.waiting {
		lot, ready := d.secretsFor(i)
		switch {
		case !ready:
		case d.taskRunning(i):
			d.blockedByTask = true
		default:
			d.waiting[n].secrets = lot
			return n
		}
	}
	return -1
}

// secretsFor returns the secrets of an item; ready is false until they have arrived.
func (d *scheduler) secretsFor(i item) (l *secretSet, ready bool) {
	if i.job.need == nil || i.job.err != nil { // what cannot run needs none
		return i.job.secrets, true
	}
	l = d.secrets.get(*i.job.need)
	return l, l != nil
}

// missingSecrets returns the secrets that waiting items need and the worker does not have.
func (d *scheduler) missingSecrets() (all []task.Need) {
	for _, i := range d.waiting {
		if _, ready := d.secretsFor(i); !ready && !slices.Contains(all, *i.job.need) &&
			len(all) < task.MostNeeds {
			all = append(all, *i.job.need)
		}
	}
	return all
}

// wake makes idle slots check again whether an item may start.
func (d *scheduler) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready.Broadcast()
}

// hasWaiting reports whether an attempt of a job waits for a slot.
func (d *scheduler) hasWaiting(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.waiting, func(i item) bool { return i.job == j })
}

// reject makes the scheduler accept nothing new, and reports whether the reason is new.
func (d *scheduler) reject(reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rejectReason == reason {
		return false
	}
	d.drained, d.rejectReason = true, reason
	d.returnAll()
	return true
}

// rejectBatch returns the attempts of a batch. For a known attempt it repeats the current event.
func (d *scheduler) rejectBatch(b task.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var events []task.Event
	for _, a := range b.Attempts {
		i := item{job: &job{sweep: b.Sweep}, attempt: a}
		if d.recent.has(i.key()) {
			events = append(events, d.currentEvent(i))
		} else {
			events = append(events, i.event(task.ReturnedEvent, d.worker))
		}
	}
	if len(events) > 0 {
		d.outbox.put(events...)
	}
}

// setNoSpace sets why nothing is accepted for want of disk space; "" means that there is space. It
// reports whether the reason has changed.
func (d *scheduler) setNoSpace(reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.noSpaceReason
	d.noSpaceReason = reason
	d.ready.Broadcast()
	return was != reason
}

func (d *scheduler) outOfSpace() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.noSpaceReason != ""
}

// lockAndReturnAll is returnAll for callers that do not hold the lock.
func (d *scheduler) lockAndReturnAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.returnAll()
}
