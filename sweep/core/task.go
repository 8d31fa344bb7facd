package core

import (
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Task is the row of one task in the store. A task that was never handed out has none, unless one
// worker alone may run it.
type Task struct {
	Index      int64
	State      task.State
	Cancelling bool       // a person cancelled it while a worker had it
	Charged    task.Retry // retries that were used, by class of the attempt before
	NotBefore  time.Time  // a pending task waits until then; zero: it does not wait
	// Lapsed is the state of a pending task before the lease of its worker ended. Its attempt may
	// still run. It is Pending for tasks without such an attempt.
	Lapsed   task.State
	Attempts int     // that are listed, not those that were returned; see docs/states.md
	Attempt  Attempt // the newest attempt
	Since    int     // the first attempt whose values count for the newest; 0: all do
	// Failed is the revision of the last attempt before the newest that failed and whose values
	// count; "" if there is none.
	Failed  string
	Fresh   int    // the first attempt in whose folder a later one may continue; 0: any
	Bytes   int64  // of its outputs, when an attempt ended last; 0: not known
	Blocked string // why a pending task cannot be handed out now, for people; it is not kept
}

// Retriable reports whether a person's retry runs a task again: it ended other than well, or is
// being cancelled.
func (t *Task) Retriable() bool {
	return t.Cancelling || t.State.Terminal() && t.State != task.Succeeded
}

// countSince sets the first attempt whose values count for the next one, which runs a revision. If
// an attempt failed with another revision, no values of earlier attempts count; nor do they if the
// next attempt starts in a new folder.
func (t *Task) countSince(revision string) {
	next := t.Attempt.Number + 1
	if o := t.Attempt.Outcome; o != nil && o.Failed() {
		t.Failed = t.Attempt.Revision
	}
	if t.Failed != "" && t.Failed != revision || t.Fresh == next {
		t.Since, t.Failed = next, ""
	}
}

// Attempt is what is known of one attempt.
type Attempt struct {
	Number   int // from 1; 0: none yet. Numbers of attempts that were returned are missing.
	Revision string
	Worker   string
	Devices  []task.Device // the GPUs that it has, or had
	Start    task.Start
	Started  time.Time    // zero: its program has not started
	Newest   metric.Final // its metrics while it runs, as far as its worker sent them
	Outcome  *task.Outcome
	// Superseded says that the result came after the task was given to another attempt; it never
	// counts.
	Superseded bool
}

// Metrics are those that it ended with, or has while it runs.
func (t *Attempt) Metrics() metric.Final {
	if t.Outcome != nil {
		return t.Outcome.Metrics
	}
	return t.Newest
}
