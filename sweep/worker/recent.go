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
	held attemptState = iota
	returned
	ended
)

func (n *recentAttempts) init() {
	n.states = map[key]attemptState{}
	n.ends.entries = map[key]keptOutcome{}
}

func (n *recentAttempts) has(k key) bool {
	_, ok := n.states[k]
	return ok
}

func (n *recentAttempts) add(k key) { n.states[k] = held }

func (n *recentAttempts) returned(k key) { n.move(k, returned) }

func (n *recentAttempts) ended(k key, e task.Event) {
	n.move(k, ended)
	n.ends.add(k, keptOutcome{e.Time, e.Start, e.Outcome})
}

// move records that an attempt left the scheduler, and forgets the one that left first.
func (n *recentAttempts) move(k key, to attemptState) {
	n.states[k] = to
	if len(n.oldest) < maxRecent {
		n.oldest = append(n.oldest, k)
		return
	}
	delete(n.states, n.oldest[n.next])
	n.oldest[n.next] = k
	n.next = (n.next + 1) % maxRecent
}

// event returns the latest event of an attempt that is in no slot.
func (n *recentAttempts) event(i item, worker string) task.Event {
	switch n.states[i.key()] {
	case returned:
		return i.event(task.ReturnedEvent, worker)
	case ended:
		e := i.event(task.EndedEvent, worker)
		if kept, ok := n.ends.entries[i.key()]; ok {
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
	entries map[key]keptOutcome
	order   []key // the oldest first
	bytes   int
}

type keptOutcome struct {
	at      time.Time
	start   *task.Start // nil: its program did not begin
	outcome *task.Outcome
}

func (s *outcomeCache) add(k key, e keptOutcome) {
	s.entries[k] = e
	s.order = append(s.order, k)
	s.bytes += e.size()
	for len(s.order) > maxOutcomes || s.bytes > maxOutcomeBytes {
		oldest := s.order[0]
		s.order = s.order[1:]
		s.bytes -= s.entries[oldest].size()
		delete(s.entries, oldest)
	}
}

// size returns the approximate memory that an outcome takes.
func (e keptOutcome) size() int {
	n := 512 + len(e.outcome.Reason) // with its places in map and order
	for _, m := range e.outcome.Metrics {
		n += 40 + len(m.Name)
		if m.Span != nil {
			n += 64
		}
	}
	return n
}
