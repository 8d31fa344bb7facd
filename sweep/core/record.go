package core

import (
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// State is where a sweep as a whole stands.
type State string

// The states of a sweep.
const (
	Open      State = "running"   // tasks are handed out as slots come free
	Paused    State = "paused"    // nothing is handed out; resume goes on
	Cancelled State = "cancelled" // what had not ended was cancelled
	Finished  State = "finished"  // every task ended
)

// Record is what is fixed about a sweep when it is submitted, but for what people change later: its revision, its priority,
// and that it is extended.
type Record struct {
	Version        int              `json:"version"`
	Recipe         task.Recipe      `json:"recipe"`
	Space          *space.Space     `json:"space"`
	Extensions     []*space.Space   `json:"extensions,omitempty"` // points added later: their indexes follow those of Space and of each other
	Style          space.Style      `json:"style"`
	EachWorker     bool             `json:"each_worker,omitempty"`
	Workers        []string         `json:"workers,omitempty"`  // of EachWorker: the n-th task is for the n-th of them; none: for any
	Ranges         Ranges           `json:"ranges,omitempty"`   // the indexes that belong to the sweep; none: all
	Priority       int              `json:"priority,omitempty"` // sweeps of a higher one go first
	Retry          Retry            `json:"retry"`
	MaxFailures    int64            `json:"max_failures,omitempty"` // 0: never stop
	Objective      metric.Objective `json:"objective"`
	Project        string           `json:"project"`                   // absolute path it was submitted from
	ParametersFile string           `json:"parameters_file,omitempty"` // in the project; "": none
	Overrides      *space.Change    `json:"overrides,omitempty"`       // of the command line to that file, for the newest of the spaces; nil: none
	Image          string           `json:"image,omitempty"`           // of records of older programs: what tasks.yml said, not what ran
	Earlier        []Earlier        `json:"earlier,omitempty"`         // what attempts ran with before its revision or settings changed, the oldest first
	Images         Images           `json:"images,omitempty"`          // that attempts ran in
}

// Range is the points [From, To).
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Ranges are points in ascending order, without overlap. The n-th of them is the n-th task of a sweep. Empty ranges are
// every point.
type Ranges []Range

// Len is how many points the ranges hold; 0 for empty ranges.
func (rs Ranges) Len() (n int64) {
	for _, r := range rs {
		n += r.To - r.From
	}
	return n
}

// At is the index of the n-th point. Behind the last it goes on counting.
func (rs Ranges) At(n int64) int64 {
	end := int64(0)
	for _, r := range rs {
		if n < r.To-r.From {
			return r.From + n
		}
		n -= r.To - r.From
		end = r.To
	}
	return end + n
}

// Ordinal is the inverse of At; false when the point is not in the ranges.
func (rs Ranges) Ordinal(index int64) (int64, bool) {
	if len(rs) == 0 {
		return index, true
	}
	var before int64
	for _, r := range rs {
		if index >= r.From && index < r.To {
			return before + index - r.From, true
		}
		before += r.To - r.From
	}
	return 0, false
}

// Add appends a point behind the last.
func (rs *Ranges) Add(index int64) {
	if last := len(*rs) - 1; last >= 0 && (*rs)[last].To == index {
		(*rs)[last].To++
		return
	}
	*rs = append(*rs, Range{index, index + 1})
}

// Retry is how many attempts that ended in each class are forgiven, for one task.
type Retry struct {
	Error   int `json:"error"`
	Timeout int `json:"timeout"`
	OOM     int `json:"oom"`
	Lost    int `json:"lost"`
}

// Counts is how many tasks are in each state, indexed by task.State.
type Counts [task.Cancelled + 1]int64

// Head is the part of a sweep that changes while it runs.
type Head struct {
	ID        string
	State     State
	Reason    string // why it is paused or cancelled; for people
	Stopping  bool   // paused, and what runs is being stopped too
	Forgiven  int64  // bad ends that max-failures no longer counts: those before somebody let the sweep go on
	Submitted time.Time
	Ended     time.Time // zero while it has not ended
	// Ran is for how long workers had tasks of the sweep, from the first that began on, while its master was there to see it: its
	// time without that of pauses, of waiting for workers and behind other sweeps, and between its end and a retry. 0 for sweeps of
	// stores that did not keep it.
	Ran    time.Duration
	Total  int64  // tasks of the sweep
	Issued int64  // the first Issued tasks have rows
	Cut    bool   // the tasks without a row were cancelled with the sweep; else they are pending
	Rows   Counts // tasks that have rows, by state
}

// Counts is how many tasks are in each state, those without a row too.
func (h Head) Counts() Counts {
	c := h.Rows
	if h.Cut {
		c[task.Cancelled] += h.fresh()
	} else {
		c[task.Pending] += h.fresh()
	}
	return c
}

// fresh is how many tasks have no row yet.
func (h Head) fresh() int64 {
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

// Fresh is the state of the tasks that have no row.
func (h Head) Fresh() task.State {
	if h.Cut {
		return task.Cancelled
	}
	return task.Pending
}
