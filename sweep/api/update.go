package api

import (
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Detail is how much of a sweep a follower is sent. Each includes the ones before it. The zero
// value is none.
type Detail string

// The details of a sweep.
const (
	DetailCounts Detail = "counts" // how the sweep stands
	DetailTasks  Detail = "tasks"  // the tasks that change
	DetailOutput Detail = "output" // what the tasks print
)

// Details are all details, the least first.
var Details = []Detail{DetailCounts, DetailTasks, DetailOutput}

// Tasks reports whether d includes the tasks that change.
func (d Detail) Tasks() bool { return d.Holds(DetailTasks) }

// Output reports whether d includes what the tasks print.
func (d Detail) Output() bool { return d.Holds(DetailOutput) }

// Holds reports whether d includes least.
func (d Detail) Holds(least Detail) bool {
	return slices.Index(Details, d) >= slices.Index(Details, least)
}

// Update is what happened since a watcher last asked. Its JSON is a line of the API's answer to a
// follower.
type Update struct {
	Sweep core.Summary `json:"sweep"`           // as it is now
	Rows  []table.Row  `json:"tasks,omitempty"` // tasks that changed, in order
	Lines []task.Line  `json:"lines,omitempty"` // live output
	// lines that were left out because the watcher was slow
	Missed int64 `json:"missed,omitempty"`
	Cut    int64 `json:"-"`              // changes of tasks that were left out likewise
	Best   *Best `json:"best,omitempty"` // of the tasks that ended well, by the sweep's objective
	// Unranked is a task that ended well without a number for the objective.
	Unranked *Unranked `json:"unranked,omitempty"`
	Closed   bool      `json:"closed,omitempty"` // the master has stopped: nothing more comes
}

// Unranked is a task without a number for the objective.
type Unranked struct {
	Task   string `json:"task"` // its id
	Metric string `json:"metric"`
}

// Best is the task that ranks first so far.
type Best struct {
	Task   string `json:"task"` // its id
	Metric string `json:"metric"`
	Value  string `json:"value"` // a number as people read it
}

// Idle reports whether the sweep has ended or is paused, and no worker has any of its tasks.
func (u Update) Idle() bool {
	c := u.Sweep.Counts
	return u.Sweep.State != core.Open && c["queued"]+c["claimed"]+c["running"] == 0
}
