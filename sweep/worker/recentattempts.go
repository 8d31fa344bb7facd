package worker

import (
	"time"

	"mlframework/sweep/task"
)

// maxRecent is how many attempts that have left the scheduler are remembered: two of the master's
// largest windows, so that a batch that is published twice runs once.
const maxRecent = 1 << 13

// lostResultReason is the reason reported again for an attempt whose outcome is no longer
// remembered.
const lostResultReason = "its result was lost with the broker"

// recentAttempts remembers the attempts that are in the scheduler or left it recently, and what
// became of the latter.
type recentAttempts struct {
	states map[key]attemptState
	// a ring; the oldest is at next once it is full
	oldest []key
	next   int
	ends   outcomeCache
}

// attemptState is what became of a known attempt.
type attemptState uint8

const (
	inScheduler attemptState = iota // claimed, or in a slot
	returned
	ended
)

func (r *recentAttempts) init() {
	r.states = map[key]attemptState{}
	r.ends.entries = map[key]pastOutcome{}
}

func (r *recentAttempts) has(k key) bool {
	_, ok := r.states[k]
	return ok
}

func (r *recentAttempts) add(k key) { r.states[k] = inScheduler }

func (r *recentAttempts) returned(k key) { r.move(k, returned) }

func (r *recentAttempts) ended(k key, e task.Event) {
	r.move(k, ended)
	r.ends.add(k, pastOutcome{e.Time, e.Start, e.Outcome})
}

// move records that an attempt left the scheduler, and forgets the one that left first.
func (r *recentAttempts) move(k key, to attemptState) {
	r.states[k] = to
	if len(r.oldest) < maxRecent {
		r.oldest = append(r.oldest, k)
		return
	}
	delete(r.states, r.oldest[r.next])
	r.oldest[r.next] = k
	r.next = (r.next + 1) % maxRecent
}

// event returns the latest event of an attempt that is in no slot.
func (r *recentAttempts) event(i item, worker string) task.Event {
	switch r.states[i.key()] {
	case returned:
		return i.event(task.ReturnedEvent, worker)
	case ended:
		e := i.event(task.EndedEvent, worker)
		if kept, ok := r.ends.entries[i.key()]; ok {
			e.Time, e.Start, e.Outcome = kept.at, kept.start, kept.outcome
		} else {
			e.Outcome = &task.Outcome{Class: task.Loss, Reason: lostResultReason}
		}
		return e
	}
	return i.event(task.ClaimedEvent, worker)
}

const (
	// maxOutcomes and maxOutcomeBytes limit the outcomes that are remembered, by number and by
	// approximate size.
	maxOutcomes     = 1 << 10
	maxOutcomeBytes = 1 << 20
)

// outcomeCache holds the most recent outcomes.
type outcomeCache struct {
	entries map[key]pastOutcome
	order   []key // the oldest first
	bytes   int
}

type pastOutcome struct {
	at      time.Time
	start   *task.Start // nil: its program did not begin
	outcome *task.Outcome
}

func (c *outcomeCache) add(k key, e pastOutcome) {
	c.entries[k] = e
	c.order = append(c.order, k)
	c.bytes += e.size()
	for len(c.order) > maxOutcomes || c.bytes > maxOutcomeBytes {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.entries[oldest].size()
		delete(c.entries, oldest)
	}
}

// size returns the approximate memory that an outcome takes.
func (e pastOutcome) size() int {
	n := 512 + len(e.outcome.Reason) // with its places in map and order
	for _, m := range e.outcome.Metrics {
		n += 40 + len(m.Name)
		if m.Span != nil {
			n += 64
		}
	}
	return n
}
