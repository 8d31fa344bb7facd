package worker

import (
	"sync"
	"time"
)

// aheadAfter is how long an attempt runs until the next copy of its project is made: beside shorter ones that would cost more
// than it gives.
const aheadAfter = 20 * time.Millisecond

// ahead has the next copies of projects made while attempts run. One timer serves all slots: with one for each attempt, short
// attempts would pay for its start and stop.
type ahead struct {
	waits func(*job) bool // whether another attempt of a job waits for a slot

	mu      sync.Mutex
	running map[int]*job // by slot: those for which no copy was asked for yet
	began   map[int]time.Time
	armed   bool
}

func (a *ahead) init(waits func(*job) bool) {
	a.waits, a.running, a.began = waits, map[int]*job{}, map[int]time.Time{}
}

// begin notes that an attempt begins in a slot.
func (a *ahead) begin(slot int, j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[slot], a.began[slot] = j, time.Now()
	if !a.armed {
		a.armed = true
		time.AfterFunc(aheadAfter, a.look)
	}
}

// end notes that the attempt in a slot has ended.
func (a *ahead) end(slot int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, slot)
}

// look asks for copies for the attempts that have run long enough.
func (a *ahead) look() {
	for _, j := range a.due(time.Now()) {
		if a.waits(j) {
			j.project.Ahead()
		}
	}
}

// due takes out the jobs of the attempts that have run long enough at a time, and waits for the others.
func (a *ahead) due(now time.Time) (due []*job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := time.Duration(-1)
	for slot, j := range a.running {
		rest := aheadAfter - now.Sub(a.began[slot])
		if rest <= 0 {
			due = append(due, j)
			delete(a.running, slot)
		} else if next < 0 || rest < next {
			next = rest
		}
	}
	if a.armed = next >= 0; a.armed {
		time.AfterFunc(next, a.look)
	}
	return due
}
