package api

import (
	"context"
	"errors"
	"net/http"

	"mlframework/sweep/core"
	"mlframework/sweep/failure"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Failures are the tasks of a sweep that failed, by how.
type Failures struct {
	Groups []FailureGroup `json:"groups"` // the most frequent first
	Others int64          `json:"others"` // tasks that are in none of the groups, where there are very many
}

// FailureGroup is tasks that failed alike.
type FailureGroup struct {
	Count  int64      `json:"count"`
	Class  task.Class `json:"class"`
	Reason string     `json:"reason"` // where the tasks' reasons differ, "…" stands for what does
	Task   string     `json:"task"`   // the first of them
	Host   *string    `json:"host"`   // where it ran last; null: not known
}

// failed are the states of tasks that failed.
var failed = []task.State{task.Failed, task.Timeout, task.OOM, task.Lost}

// Failures groups the tasks of a sweep that failed by how their newest attempts ended.
func (a *Archive) Failures(ctx context.Context, id string) (Failures, error) {
	s, err := a.sweep(ctx, id)
	if err != nil {
		return Failures{}, err
	}
	q := store.Query{States: failed, Fields: table.FieldState | table.FieldHost | table.FieldClass |
		table.FieldReason}
	return grouped(s.Head.ID, func(yield func(failure.Failure)) error {
		return a.Store.Scan(ctx, s, q, func(t *core.Task) bool {
			f := failure.Failure{Class: t.State.String(), Index: t.Index, Host: t.Try.Start.Host}
			if o := t.Try.Outcome; o != nil {
				f.Class, f.Reason = string(o.Class), o.Reason
			}
			yield(f)
			return true
		})
	})
}

// Failures is as Archive.Failures. A master of before that question existed is asked for the tasks.
func (c *Client) Failures(ctx context.Context, id string) (f Failures, err error) {
	err = c.get(ctx, sweepPath(id)+"/failures", nil, &f)
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusNotFound {
		return f, err
	}
	s, err := c.Sweep(ctx, id, false)
	if err != nil {
		return f, err
	}
	return grouped(s.ID, func(yield func(failure.Failure)) error {
		return c.Rows(ctx, s.ID, Query{States: failed}, func(r *table.Row) error {
			yield(failure.Failure{Class: classOf(*r), Reason: r.Reason, Index: r.Index, Host: r.Host})
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

func grouped(sweep string, all func(yield func(failure.Failure)) error) (Failures, error) {
	groups, others, err := failure.Groups(all)
	f := Failures{Groups: []FailureGroup{}, Others: others}
	for _, g := range groups {
		f.Groups = append(f.Groups, FailureGroup{Count: g.Count, Class: task.Class(g.Class), Reason: g.Reason,
			Task: task.ID{Sweep: sweep, Index: g.Index}.String(), Host: textOrNull(g.Host)})
	}
	return f, err
}

func (s *Server) failures(w http.ResponseWriter, r *http.Request) error {
	f, err := s.archive.Failures(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, f)
	return nil
}
