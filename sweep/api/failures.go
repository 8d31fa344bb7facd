package api

import (
	"context"
	"errors"
	"net/http"

	"mlframework/sweep/failure"
	"mlframework/sweep/table"
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
	Task   string     `json:"task"`   // the first of them
	Host   *string    `json:"host"`   // where it ran last; null: not known
}

// FailedStates are the states of tasks that failed.
var FailedStates = []task.State{task.Failed, task.Timeout, task.OOM, task.Lost}

// Failures returns the tasks of a sweep that failed, grouped by how. A master of before that
// question existed is asked for the tasks.
func (c *Client) Failures(ctx context.Context, id string) (f Failures, err error) {
	err = c.get(ctx, sweepPath(id)+"/failures", nil, &f)
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusNotFound {
		return f, err
	}
	s, err := c.Sweep(ctx, id, false)
	if err != nil {
		return f, err
	}
	return GroupFailures(s.ID, func(yield func(failure.Failure)) error {
		return c.Rows(ctx, s.ID, Query{States: FailedStates}, func(r *table.Row) error {
			yield(failure.Failure{Class: classOf(*r), Reason: r.Reason, Index: r.Index,
				Host: r.Host})
			return nil
		})
	})
}

// classOf is how a failed task ended; an old master tells the state alone.
func classOf(r table.Row) string {
	switch {
	case r.Class != "":
		return r.Class
	case r.State == task.Failed.String():
		return string(task.Error)
	}
	return r.State
}

func GroupFailures(sweep string, all func(yield func(failure.Failure)) error) (Failures, error) {
	groups, others, err := failure.Groups(all)
	f := Failures{Groups: []FailureGroup{}, Others: others}
	for _, g := range groups {
		shown := FailureGroup{Count: g.Count, Class: task.Class(g.Class), Reason: g.Reason,
			Task: task.ID{Sweep: sweep, Index: g.Index}.String()}
		if g.Host != "" {
			shown.Host = &g.Host
		}
		f.Groups = append(f.Groups, shown)
	}
	return f, err
}
