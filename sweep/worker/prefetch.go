package worker

import (
	"sync"
	"time"
)

// prefetchDelay is how long an attempt runs before the next copy of its project is made. Shorter
// attempts would pay more for the copy than they gain.
const prefetchDelay = 20 * time.Millisecond

// prefetcher makes the next copies of projects while attempts run. One timer serves all slots: a
// timer per attempt would slow down short ones.
type prefetcher struct {
	// reports whether another attempt of a job waits for a slot
	hasWaiting func(*job) bool

	mu sync.Mutex
	// by slot; attempts for which no copy has been made yet
	running   map[int]*job
	startedAt map[int]time.Time
	timerSet  bool
}

func (a *prefetcher) init(waits func(*job) bool) {
	a.hasWaiting, a.running, a.startedAt = waits, map[int]*job{}, map[int]time.Time{}
}

// begin records that an attempt starts in a slot.
func (a *prefetcher) begin(slot int, j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[slot], a.startedAt[slot] = j, time.Now()
	if !a.timerSet {
		a.timerSet = true
		time.AfterFunc(prefetchDelay, a.prefetchDue)
	}
}

// end records that the attempt in a slot has ended.
func (a *prefetcher) end(slot int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, slot)
}

// prefetchDue makes copies for attempts that have run long enough.
func (a *prefetcher) prefetchDue() {
	for _, j := range a.due(time.Now()) {
		if a.hasWaiting(j) {
			j.project.Prefetch()
		}
	}
}

// due removes and returns the jobs of attempts that have run long enough at now, and sets the timer
// for the others.
func (a *prefetcher) due(now time.Time) (due []*job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := time.Duration(-1)
	for slot, j := range a.running {
		rest := prefetchDelay - now.Sub(a.startedAt[slot])
		if rest <= 0 {
			due = append(due, j)
			delete(a.running, slot)
		} else if next < 0 || rest < next {
			next = rest
		}
	}
	if a.timerSet = next >= 0; a.timerSet {
		time.AfterFunc(next, a.prefetchDue)
	}
	return due
}
