package api

import (
	"context"

	"mlframework/sweep/failure"
	"mlframework/sweep/task"
)

// Failures are the tasks of a sweep that failed, by how.
type Failures struct {
	Groups []FailureGroup `json:"groups"` // the most frequent first
	// tasks that are in none of the groups, where there are very many
	Others int64 `json:"others"`
}

// FailureGroup is tasks that failed alike.
type FailureGroup struct {
	Count  int64      `json:"count"`
	Class  task.Class `json:"class"`
	Reason string     `json:"reason"` // where the tasks' reasons differ, "…" stands for what does
	Frame  *string    `json:"frame"`  // where all of them were raised; null: not in one place
	Task   string     `json:"task"`   // the first of them
	Host   *string    `json:"host"`   // where it ran last; null: not known
	// Where is a filter for the tasks with what these have in common, and others do not: values of
	// one or two parameters or the host; null: there is nothing.
	Where *string `json:"where"`
}

// FailedStates are the states of tasks that failed.
var FailedStates = []task.State{task.Failed, task.Timeout, task.OOM, task.Lost}

// Failures returns the tasks of a sweep that failed, grouped by how.
func (c *Client) Failures(ctx context.Context, id string) (f Failures, err error) {
	return f, c.get(ctx, sweepPath(id)+"/failures", nil, &f)
}

// NewFailures returns the groups of failures of a sweep.
func NewFailures(sweep string, all failure.Grouping) Failures {
	f := Failures{Groups: []FailureGroup{}, Others: all.Others}
	for _, g := range all.Groups {
		shown := FailureGroup{Count: g.Count, Class: task.Class(g.Class), Reason: g.Reason,
			Task: task.ID{Sweep: sweep, Index: g.Index}.String()}
		if g.Host != "" {
			shown.Host = &g.Host
		}
		if g.Frame != "" {
			shown.Frame = &g.Frame
		}
		f.Groups = append(f.Groups, shown)
	}
	return f
}
