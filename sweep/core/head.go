package core

import (
	"time"

	"mlframework/sweep/task"
)

// State is where a sweep as a whole stands.
type State string

// The states of a sweep.
const (
	Open      State = "running"   // tasks are handed out as slots come free
	Paused    State = "paused"    // nothing is handed out until it is resumed
	Cancelled State = "cancelled" // what had not ended was cancelled
	Finished  State = "finished"  // every task ended
)

// Counts is how many tasks are in each state, indexed by task.State.
type Counts [task.Cancelled + 1]int64

// Head is the part of a sweep that changes while it runs.
type Head struct {
	ID              string
	State           State
	Reason          string // why it is paused or cancelled; for people
	Stopping        bool   // paused, and what runs is being stopped too
	IgnoredFailures int64  // that max-failures does not count: those before the last resume
	Submitted       time.Time
	Ended           time.Time // zero while it has not ended
	// Ran is for how long workers had tasks of the sweep, from the first start on, while its
	// master was there to see it: its time without that of pauses, of waiting for workers and
	// behind other sweeps, and between its end and a retry. 0 for sweeps of stores that did not
	// keep it.
	Ran               time.Duration
	Total             int64  // tasks of the sweep
	Issued            int64  // the first Issued tasks have rows
	UnissuedCancelled bool   // tasks without a row were cancelled with the sweep; else pending
	Rows              Counts // tasks that have rows, by state
	Bytes             int64  // of the outputs of its tasks, when their attempts ended last
	// Waits is why none of its tasks can start now, if workers or GPUs are missing, for people. It
	// is not stored: it follows from what workers report.
	Waits string
	// Silent says which workers with tasks of the sweep have sent no heartbeat, and for how long.
	// It is not stored either.
	Silent string
}

// Counts is how many tasks are in each state, those without a row too.
func (h Head) Counts() Counts {
	c := h.Rows
	if h.UnissuedCancelled {
		c[task.Cancelled] += h.unissued()
	} else {
		c[task.Pending] += h.unissued()
	}
	return c
}

// unissued is how many tasks have no row yet.
func (h Head) unissued() int64 {
	n := h.Total
	for _, rows := range h.Rows {
		n -= rows
	}
	return n
}

// Done is how many tasks have ended, in whatever way.
func (c Counts) Done() (n int64) {
	for s, count := range c {
		if task.State(s).Terminal() {
			n += count
		}
	}
	return n
}

// Failures is how many tasks ended badly: failed, timeout, oom or lost.
func (c Counts) Failures() (n int64) {
	for s, count := range c {
		if task.State(s).Failure() {
			n += count
		}
	}
	return n
}

// UnissuedState is the state of the tasks that have no row.
func (h Head) UnissuedState() task.State {
	if h.UnissuedCancelled {
		return task.Cancelled
	}
	return task.Pending
}
