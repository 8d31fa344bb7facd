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
	slots   int // that attempts may take at a time
	// a person chose the number of slots
	slotsChosen bool
	usedSlots   int         // that running attempts take
	idleSlots   int         // that wait for an item
	beside      int         // attempts, waiting and running, that take no slot
	reserved    int         // waiting attempts for which the master keeps what they need
	startSlot   func(n int) // starts a slot
	// moving average over recent attempts; 0 before the first has ended
	meanDuration time.Duration
	// slots with a goroutine, including surplus ones that are still busy
	activeSlots map[int]bool
	// an attempt waits only for another attempt of the same task
	blockedByTask bool
	gpus          gpuPool
	gpuLocks      gpuLocks
	// attempts have needed GPUs since the start
	gpusNeeded bool
	// requests for a look at the GPUs
	gpuLooks chan struct{}
	// closed when the next look at the GPUs has ended
	gpuLooked chan struct{}
	// nothing new is accepted
	drained    bool
	hostFaults int // host faults in a row
	// no other worker could run what this one cannot
	soleWorker bool
	// why nothing is accepted while the disk is full; "": the disk has space
	noSpaceReason string
	// revisions whose files attempts needed and that are not on this host
	lacking map[string]bool
	// why the master's batches cannot be accepted; "": they can
	rejectReason string
	closed       bool
	// nothing new will ever be accepted again
	retiring bool
	// closed when the scheduler is retiring and the last slot is free
	idle chan struct{}
}

func (s *scheduler) init(worker string, slots int, out *outbox, secrets *secretStore) {
	s.worker, s.slots, s.outbox, s.secrets = worker, slots, out, secrets
	s.ready.L = &s.mu
	s.claimed, s.running, s.activeSlots = map[key]bool{}, map[key]*runningAttempt{}, map[int]bool{}
	s.idle, s.gpuLooks = make(chan struct{}), make(chan struct{}, 1)
	s.gpuLooked = make(chan struct{})
	s.lacking = map[string]bool{}
	s.recent.init()
	s.gpus.init()
}

// claim reports the arrival of attempts and returns the new ones. For a known attempt it repeats
// the current event, so that a master whose queue lost events catches up.
func (s *scheduler) claim(items []item) (added []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := make([]task.Event, 0, len(items))
	for _, i := range items {
		if s.recent.has(i.key()) {
			events = append(events, s.currentEvent(i))
			continue
		}
		added = append(added, i)
		s.claimed[i.key()] = false
		events = append(events, i.event(task.ClaimedEvent, s.worker))
	}
	s.outbox.put(events...)
	if s.runningLow() {
		s.outbox.expedite()
	}
	return added
}

// unclaim forgets claimed items whose delivery was not acknowledged: they will be delivered again.
// What the master asked about them is forgotten, too: it asks again when they are claimed again.
func (s *scheduler) unclaim(items []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range items {
		delete(s.claimed, i.key())
	}
}

// currentEvent returns the event that describes the current state of a known attempt.
func (s *scheduler) currentEvent(i item) task.Event {
	switch r := s.running[i.key()]; {
	case r == nil || r.ended:
		return s.recent.event(i, s.worker)
	case r.started != nil:
		return *r.started
	}
	return i.event(task.ClaimedEvent, s.worker)
}

// enqueue adds items to the waiting queue unless they are known. It returns those that were stopped
// or recalled since they were claimed, and all of them while nothing new is accepted.
func (s *scheduler) enqueue(items []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unwanted := map[key]bool{}
	for _, i := range items {
		if s.claimed[i.key()] {
			unwanted[i.key()] = true
		}
		delete(s.claimed, i.key())
		if !s.recent.has(i.key()) {
			s.recent.add(i.key())
			s.waiting = append(s.waiting, i)
			s.stopSuperseded(i)
			s.noteGPUNeed(i)
			s.noteReserved(i)
		}
	}
	s.addSlot()
	s.ready.Broadcast()
	if s.drained || s.closed || s.noSpaceReason != "" {
		s.returnWaiting(func(item) bool { return true })
	} else if len(unwanted) > 0 {
		s.returnWaiting(func(i item) bool { return unwanted[i.key()] })
	}
}

// noteReserved counts an item that begins to wait. The caller holds the lock.
func (s *scheduler) noteReserved(i item) {
	if i.reserved {
		s.reserved++
	}
	if i.slots == 0 {
		s.beside++
	}
}

// forgetReserved counts an item that is returned. The caller holds the lock.
func (s *scheduler) forgetReserved(i item) {
	if i.reserved {
		s.reserved--
	}
	if i.slots == 0 {
		s.beside--
	}
}

// markUnwanted marks claimed items that match: enqueue returns them to the master.
func (s *scheduler) markUnwanted(matches func(key) bool) {
	for k := range s.claimed {
		if matches(k) {
			s.claimed[k] = true
		}
	}
}

// stop cancels an attempt that is in a slot, and returns one that waits.
func (s *scheduler) stop(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.running[k]; r != nil {
		r.cancel(errStopped)
		return
	}
	s.markUnwanted(func(have key) bool { return have == k })
	s.returnWaiting(func(i item) bool { return i.key() == k })
}

// recall returns the waiting items of a sweep to the master.
func (s *scheduler) recall(sweep string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.markUnwanted(func(k key) bool { return k.sweep == sweep })
	s.returnWaiting(func(i item) bool { return i.job.sweep == sweep })
}

// drain starts or ends draining. While draining, waiting items and all that arrive are returned.
func (s *scheduler) drain(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained, s.rejectReason, s.hostFaults = on || s.retiring, "", 0; s.drained {
		s.returnAll()
	}
}

// returnAll returns all waiting and claimed items. The caller holds the lock.
func (s *scheduler) returnAll() {
	s.markUnwanted(func(key) bool { return true })
	s.returnWaiting(func(item) bool { return true })
}

// close makes every take return false and returns the waiting items.
func (s *scheduler) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.ready.Broadcast()
	s.returnWaiting(func(item) bool { return true })
}

// returnWaiting returns the waiting items that match. The caller holds the lock.
func (s *scheduler) returnWaiting(matches func(item) bool) {
	var kept []item
	var events []task.Event
	for _, i := range s.waiting {
		if !matches(i) {
			kept = append(kept, i)
			continue
		}
		s.recent.returned(i.key())
		s.forgetReserved(i)
		events = append(events, i.event(task.ReturnedEvent, s.worker))
	}
	if s.waiting = kept; len(events) == 0 {
		return
	}
	s.outbox.put(events...)
	if s.gpusNeeded {
		s.ready.Broadcast() // one of them may have kept slots from others
	}
}

// nextRunnable returns the index of the first waiting item that may start, or a negative number if
// there is none. Attempts of one task share a folder and never run at the same time. Items for
// which the master keeps what they need start before others, and keep slots that they lack from
// those.
func (s *scheduler) nextRunnable() int {
	s.blockedByTask = false
	if s.noSpaceReason != "" {
		return -1 // what waits is about to be returned
	}
	free, others := s.slots-s.usedSlots, -1
	now := time.Now()
	for n, i := range s.waiting {
		if !i.reserved && others >= 0 {
			continue
		}
		secrets, ready := s.secretsFor(i)
		switch {
		case !ready:
			continue
		case s.taskRunning(i):
			s.blockedByTask = true
			continue
		case !i.reserved:
			s.waiting[n].secrets, others = secrets, n
			if s.reserved == 0 {
				return s.ifFits(n, free)
			}
			continue
		}
		gpus, ready := s.gpusFor(i, now)
		if !ready {
			continue
		}
		s.waiting[n].secrets, s.waiting[n].gpus = secrets, gpus
		if s.takes(i) <= free {
			return n
		}
		free -= s.takes(i)
	}
	return s.ifFits(others, free)
}

// takes returns the slots that an item takes: all, if it was sent while there were more.
func (s *scheduler) takes(i item) int { return min(i.slots, s.slots) }

// ifFits returns the index of a waiting item if it fits into free slots, else -1.
func (s *scheduler) ifFits(n, free int) int {
	if n < 0 || s.takes(s.waiting[n]) > free {
		return -1
	}
	return n
}

// secretsFor returns the secrets of an item; ready is false until they have arrived.
func (s *scheduler) secretsFor(i item) (set *secretSet, ready bool) {
	if i.job.need == nil || i.job.err != nil { // what cannot run needs none
		return i.job.secrets, true
	}
	set = s.secrets.get(*i.job.need)
	return set, set != nil
}

// missingSecrets returns the secrets that waiting items need and the worker does not have.
func (s *scheduler) missingSecrets() (all []task.Need) {
	for _, i := range s.waiting {
		if _, ready := s.secretsFor(i); !ready && !slices.Contains(all, *i.job.need) &&
			len(all) < task.MaxNeeds {
			all = append(all, *i.job.need)
		}
	}
	return all
}

// wake makes idle slots check again whether an item may start.
func (s *scheduler) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready.Broadcast()
}

// reject makes the scheduler accept nothing new, and reports whether the reason is new.
func (s *scheduler) reject(reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rejectReason == reason {
		return false
	}
	s.drained, s.rejectReason = true, reason
	s.returnAll()
	return true
}

// rejectBatch returns the attempts of a batch. For a known attempt it repeats the current event.
func (s *scheduler) rejectBatch(b task.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var events []task.Event
	for _, a := range b.Attempts {
		i := item{job: &job{sweep: b.Sweep}, attempt: a}
		if s.recent.has(i.key()) {
			events = append(events, s.currentEvent(i))
		} else {
			events = append(events, i.event(task.ReturnedEvent, s.worker))
		}
	}
	if len(events) > 0 {
		s.outbox.put(events...)
	}
}

// setNoSpace sets why nothing is accepted for want of disk space; "" means that there is space. It
// reports whether the reason has changed.
func (s *scheduler) setNoSpace(reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.noSpaceReason
	s.noSpaceReason = reason
	s.ready.Broadcast()
	return was != reason
}

func (s *scheduler) outOfSpace() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noSpaceReason != ""
}

// lockAndReturnAll is returnAll for callers that do not have the lock.
func (s *scheduler) lockAndReturnAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returnAll()
}
