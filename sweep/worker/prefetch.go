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

func (p *prefetcher) init(waits func(*job) bool) {
	p.hasWaiting, p.running, p.startedAt = waits, map[int]*job{}, map[int]time.Time{}
}

// begin records that an attempt starts in a slot.
func (p *prefetcher) begin(slot int, j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[slot], p.startedAt[slot] = j, time.Now()
	if !p.timerSet {
		p.timerSet = true
		time.AfterFunc(prefetchDelay, p.prefetchDue)
	}
}

// end records that the attempt in a slot has ended.
func (p *prefetcher) end(slot int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, slot)
}

// prefetchDue makes copies for attempts that have run long enough.
func (p *prefetcher) prefetchDue() {
	for _, j := range p.due(time.Now()) {
		if p.hasWaiting(j) {
			j.project.Prefetch()
		}
	}
}

// due removes and returns the jobs of attempts that have run long enough at now, and sets the timer
// for the others.
func (p *prefetcher) due(now time.Time) (due []*job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := time.Duration(-1)
	for slot, j := range p.running {
		rest := prefetchDelay - now.Sub(p.startedAt[slot])
		if rest <= 0 {
			due = append(due, j)
			delete(p.running, slot)
		} else if next < 0 || rest < next {
			next = rest
		}
	}
	if p.timerSet = next >= 0; p.timerSet {
		time.AfterFunc(next, p.prefetchDue)
	}
	return due
}
