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

const (
	// maxOutcomes and maxOutcomeBytes limit the outcomes that are remembered, by number and by
	// approximate size.
	maxOutcomes     = 1 << 10
	maxOutcomeBytes = 1 << 20
)

// recentAttempts remembers the attempts that are in the scheduler or left it recently, and what
// became of the latter.
type recentAttempts struct {
	// nil: claimed, or in a slot
	all map[key]*pastAttempt
	// those that left the scheduler, the oldest first
	left []key
	// those whose outcomes are remembered, the oldest first
	outcomes     []*pastAttempt
	outcomeBytes int
}

// pastAttempt is what became of an attempt that left the scheduler.
type pastAttempt struct {
	ended   bool // else it was returned
	at      time.Time
	start   *task.Start   // nil: its program did not begin
	outcome *task.Outcome // nil: forgotten
}

func (r *recentAttempts) init() { r.all = map[key]*pastAttempt{} }

func (r *recentAttempts) has(k key) bool {
	_, ok := r.all[k]
	return ok
}

func (r *recentAttempts) add(k key) { r.all[k] = nil }

func (r *recentAttempts) returned(k key) { r.leave(k, &pastAttempt{}) }

func (r *recentAttempts) ended(k key, e task.Event) {
	past := &pastAttempt{true, e.Time, e.Start, e.Outcome}
	r.leave(k, past)
	r.outcomes = append(r.outcomes, past)
	r.outcomeBytes += sizeOf(e.Outcome)
	for len(r.outcomes) > maxOutcomes || r.outcomeBytes > maxOutcomeBytes {
		oldest := r.outcomes[0]
		r.outcomes = r.outcomes[1:]
		r.outcomeBytes -= sizeOf(oldest.outcome)
		oldest.start, oldest.outcome = nil, nil
	}
}

// leave records that an attempt left the scheduler, and forgets the one that left first.
func (r *recentAttempts) leave(k key, past *pastAttempt) {
	r.all[k] = past
	if r.left = append(r.left, k); len(r.left) > maxRecent {
		delete(r.all, r.left[0])
		r.left = r.left[1:]
	}
}

// event returns the latest event of an attempt that is in no slot.
func (r *recentAttempts) event(i item, worker string) task.Event {
	past := r.all[i.key()]
	switch {
	case past == nil:
		return i.event(task.ClaimedEvent, worker)
	case !past.ended:
		return i.event(task.ReturnedEvent, worker)
	}
	e := i.event(task.EndedEvent, worker)
	if e.Outcome = past.outcome; e.Outcome == nil {
		e.Outcome = &task.Outcome{Class: task.Loss, Reason: lostResultReason}
		return e
	}
	e.Time, e.Start = past.at, past.start
	return e
}

// sizeOf returns the approximate memory that an outcome takes.
func sizeOf(o *task.Outcome) int {
	n := 512 + len(o.Reason) // with its places in map and order
	for _, m := range o.Metrics {
		n += 40 + len(m.Name)
		if m.Span != nil {
			n += 64
		}
	}
	return n
}
