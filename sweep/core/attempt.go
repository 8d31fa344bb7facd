package core

import (
	"fmt"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Task is the row of one task in the store. A task that was never handed out has none, unless one
// worker alone may run it.
type Task struct {
	Index      int64
	State      task.State
	Cancelling bool      // a person cancelled it while a worker had it
	Charged    Retry     // attempts that the retry rules forgave, by class
	NotBefore  time.Time // a pending task waits until then; zero: it does not wait
	Tries      int       // attempts that are listed: all but those that their worker gave back; docs/states.md
	Try        Try       // the newest attempt
	Waits      string    // why a pending task cannot be handed out now, for people; it is not kept
}

// Try is what is known of one attempt.
type Try struct {
	Number   int // from 1; 0: none yet. Numbers of attempts that their worker gave back are missing.
	Revision string
	Worker   string
	Start    task.Start
	Started  time.Time    // zero: its program has not begun
	Newest   metric.Final // its metrics while it runs, as far as they are told
	Outcome  *task.Outcome
	// Superseded tells that the result came after the task was given to another attempt; it never counts.
	Superseded bool
}

// Metrics are those that it ended with, or has while it runs.
func (t *Try) Metrics() metric.Final {
	if t.Outcome != nil {
		return t.Outcome.Metrics
	}
	return t.Newest
}

// terminalState is the state that an outcome which nothing forgives leads to.
func terminalState(c task.Class) task.State {
	switch c {
	case task.Success:
		return task.Succeeded
	case task.TimedOut:
		return task.Timeout
	case task.OutOfMemory:
		return task.OOM
	case task.Loss:
		return task.Lost
	default:
		return task.Failed
	}
}

// charge counts an end of class c against rules and tells whether they forgive it.
func (t *Task) charge(c task.Class, rules Retry) (forgiven bool) {
	var used *int
	var allowed int
	switch c {
	case task.Error:
		used, allowed = &t.Charged.Error, rules.Error
	case task.TimedOut:
		used, allowed = &t.Charged.Timeout, rules.Timeout
	case task.OutOfMemory:
		used, allowed = &t.Charged.OOM, rules.OOM
	case task.Loss:
		used, allowed = &t.Charged.Lost, rules.Lost
	default:
		return false
	}
	if *used >= allowed {
		return false
	}
	*used++
	return true
}

// mostUncharged bounds the uncharged attempts of a task that its workers can cause: those that
// they stop although nobody asked for that, as a worker does that is ended, and those that they
// claim and do not begin. A worker that always does so would have a task for ever.
const mostUncharged = 32

// uncharged is how many of its attempts no retry rule had to forgive.
func (t *Task) uncharged() int {
	return t.Tries - (t.Charged.Error + t.Charged.Timeout + t.Charged.OOM + t.Charged.Lost)
}

// unasked is the outcome of an attempt that its worker stopped once too often.
func (t *Task) unasked(o *task.Outcome) *task.Outcome {
	lost := *o
	lost.Class = task.Loss
	lost.Reason = fmt.Sprintf("its worker %s stopped it, which nobody had asked for, and "+
		"%d attempts of this task were not charged before", t.Try.Worker, t.uncharged()-1)
	return &lost
}

// backoff is how long a task waits before its next attempt: 1, 2, 4 ... 60 seconds with the attempts forgiven so far,
// so that a program which fails at once does not fill a machine with attempts.
func (t *Task) backoff() time.Duration {
	n := t.Charged.Error + t.Charged.Timeout + t.Charged.OOM + t.Charged.Lost
	return min(time.Second<<min(max(n-1, 0), 6), time.Minute)
}
