package worker

import (
	"context"
	"slices"
	"time"

	"mlframework/nvdocker"
)

// gpusFor returns the GPUs of a waiting item if it can start on them now. The caller holds the lock.
func (s *scheduler) gpusFor(i item, now time.Time) (a nvdocker.Assignment, ready bool) {
	if i.job.err != nil { // what cannot run needs none
		return a, true
	}
	a, ready, stale := s.gpus.ready(i.attempt, now)
	if stale && s.gpus.ended == s.gpus.looks { // else one is on its way
		s.requestGPULook()
	}
	return a, ready
}

// requestGPULook requests a look at the GPUs now.
func (s *scheduler) requestGPULook() {
	select {
	case s.gpuLooks <- struct{}{}:
	default: // one is due already
	}
}

// gpuState is what decides how often GPUs are looked at, and who is told of them.
type gpuState struct {
	known  bool // which there are
	some   bool // there are some
	out    bool // attempts do not get all of them
	needed bool // attempts have needed some
	failed int  // looks in a row
}

func (s *scheduler) gpuState() gpuState {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.ContainsFunc(s.gpus.devices,
		func(d gpuDevice) bool { return d.reason != "" })
	return gpuState{known: s.gpus.known, some: len(s.gpus.devices) > 0, out: out,
		needed: s.gpusNeeded, failed: s.gpus.failed}
}

// beginGPULook returns the number of a look that begins now. It answers the requests so far.
func (s *scheduler) beginGPULook() (look int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.gpuLooks:
	default:
	}
	return s.gpus.beginLook()
}

// updateGPUs takes over the report of a look, with the holders of locks, and lets attempts start
// that it makes room for. Tell says that heartbeats have something new to tell.
func (s *scheduler) updateGPUs(r nvdocker.Report, holders map[string]string, look int,
	now time.Time) (changes []gpuChange, tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gpus.holders = holders
	s.gpuLocks.renew()
	s.releaseKeptGPUs()
	s.ready.Broadcast()
	close(s.gpuLooked)
	s.gpuLooked = make(chan struct{})
	told := s.gpus.unlisted()
	changes = s.gpus.update(r, look, now)
	s.stopIdle(now)
	return changes, len(changes) > 0 || told != s.gpus.unlisted()
}

// gpuFailure returns why a device that an attempt has does not work, for people, as a look that
// begins now finds it, or the latest that has ended if ctx ends before; "": all do. While looks fail
// it waits for none.
func (s *scheduler) gpuFailure(ctx context.Context, a nvdocker.Assignment) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requestGPULook()
	for before := s.gpus.looks; s.gpus.ended <= before && s.gpus.failed == 0; {
		looked := s.gpuLooked
		s.mu.Unlock()
		select {
		case <-looked:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			break
		}
	}
	return s.gpus.failure(a)
}

// noteGPUNeed notes the first need of GPUs: from now on they are looked at regularly. The caller
// holds the lock.
func (s *scheduler) noteGPUNeed(i item) {
	if s.gpusNeeded || len(i.attempt.Devices) == 0 {
		return
	}
	s.gpusNeeded = true
	s.requestGPULook()
}

// lockGPUs locks the devices of an assignment, and reports whether attempts may use them. Another
// process may have one since the latest look: then the attempt waits until that look tells. The
// caller holds the lock.
func (s *scheduler) lockGPUs(a nvdocker.Assignment) bool {
	uuid, inUse := s.gpuLocks.acquire(s.gpus.unshared(a))
	if inUse == nil {
		return true
	}
	s.gpus.deny(uuid)
	s.requestGPULook() // it finds who has the lock, so that heartbeats can tell of it
	return false
}

// releaseGPUs takes back the GPUs of an attempt, unless keepGPUs keeps them. The caller holds the
// lock.
func (s *scheduler) releaseGPUs(k key) {
	if len(s.gpus.unkillable[k]) > 0 {
		s.requestGPULook() // it says who has them
	} else if s.gpus.release(k) {
		s.gpuLocks.release(func(uuid string) bool { return s.gpus.share(uuid) == 0 })
		s.ready.Broadcast() // what shares a GPU with others may start at once
		s.requestGPULook()
	}
}

// hasUnmet reports whether returnUnmet would return an item.
func (s *scheduler) hasUnmet(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gpusNeeded && slices.ContainsFunc(s.waiting, s.unmet(now))
}

// returnUnmet returns the waiting items that cannot have their GPUs.
func (s *scheduler) returnUnmet(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returnWaiting(s.unmet(now))
}

// unmet returns whether an item cannot have its GPUs. The caller holds the lock.
func (s *scheduler) unmet(now time.Time) func(item) bool {
	return func(i item) bool { return i.job.err == nil && s.gpus.lost(i.attempt, now) }
}
