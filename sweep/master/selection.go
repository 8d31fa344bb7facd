package master

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/listing"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// maxSelected is how many tasks one command with a filter can be about: the loop holds them.
const maxSelected = 100_000

// CancelTasks cancels the tasks that a filter picks among those that have not ended. What is picked
// is found between two steps of the loop, so that it is true when the command is decided.
func (m *Master) CancelTasks(ctx context.Context, id string, by api.Selection,
	reason string) error {
	return m.changeSweep(ctx, id, func(loop context.Context, id string) (core.Command, error) {
		indexes, err := m.selected(loop, AuditOf(ctx), id, by, api.CancelledStates)
		if err == nil && len(indexes) == 0 {
			err = noneSelected(id, "it picks no task that has not ended")
		}
		return core.CancelTasks{Sweep: id, Reason: reason, Indexes: indexes}, err
	})
}

// RetryWhere is Retry of the tasks that a filter picks among those that ended other than well.
func (m *Master) RetryWhere(ctx context.Context, id string, by api.Selection, fresh bool,
	with api.Continuation) error {
	return m.changeSweep(ctx, id, func(loop context.Context, id string) (core.Command, error) {
		if err := m.checkRemovals(loop, id); err != nil {
			return nil, err
		}
		indexes, err := m.selected(loop, AuditOf(ctx), id, by, api.RetriedStates)
		if err == nil && len(indexes) == 0 {
			err = noneSelected(id, "it picks no task that failed or was cancelled")
		}
		if err != nil {
			return nil, err
		}
		s, err := m.o.Store.Sweep(loop, id)
		if err != nil {
			return nil, err
		}
		retry := core.RetryTasks{Sweep: id, Fresh: fresh}
		for part := range slices.Chunk(indexes, maxPerQuery) {
			for t, err := range m.o.Store.Tasks(loop, s, store.TaskQuery{Indexes: part}) {
				if err != nil {
					return nil, err
				}
				retry.Tasks = append(retry.Tasks, t)
			}
		}
		if retry.Unissued, err = unissued(s, indexes, retry.Tasks); err != nil {
			return nil, err
		}
		return m.goOn(id, with, func(r core.Revision) core.Command {
			retry.With = r
			return retry
		})
	})
}

// maxPerQuery is how many tasks the store is asked for at a time.
const maxPerQuery = 500

// selected returns the indexes of the tasks of a sweep in some states that a filter picks, and notes
// their number in the audit. The loop calls it.
func (m *Master) selected(ctx context.Context, audit *core.AuditEntry, id string,
	by api.Selection, states []task.State) ([]int64, error) {
	a := listing.Archive{Store: &m.o.Store.Reader,
		Waits: func(_ context.Context, id string) (map[int64]string, error) {
			return m.core.Blocked(id), nil
		}}
	all, err := a.Indexes(ctx, id, api.Query{Where: string(by.Where), States: states}, maxSelected+1)
	n := int64(len(all))
	switch {
	case err != nil:
		return nil, err
	case n > maxSelected:
		return nil, api.Wrong("where", fmt.Sprintf("it picks more than %d tasks: narrow it down",
			maxSelected))
	case by.AtMost != nil && n > *by.AtMost:
		return nil, &api.Error{Status: http.StatusConflict, Parameter: api.AtMostParameter,
			Text:   fmt.Sprintf("where picks %s now, and not %d", human.Plural(n, "task"), *by.AtMost),
			Remedy: "look at them again"}
	}
	if audit != nil {
		audit.Detail += fmt.Sprintf(" tasks=%d", n)
	}
	return all, nil
}

func noneSelected(id, text string) error {
	return &api.Error{Status: http.StatusConflict, Parameter: "where", Text: text + " of " + id}
}

// unissued returns the indexes of selected tasks of a sweep that have no row.
func unissued(s store.Sweep, indexes []int64, rows []core.Task) (without []int64, err error) {
	for _, i := range indexes {
		if _, has := slices.BinarySearchFunc(rows, i, func(t core.Task, i int64) int {
			return cmp.Compare(t.Index, i)
		}); !has {
			without = append(without, i)
		}
	}
	if rest := s.Head.Total - s.Rows() - int64(len(without)); len(without) > 0 &&
		rest > maxSelected {
		return nil, &core.WrongState{ID: s.Head.ID, Is: fmt.Sprintf("cancelled, with more than %d "+
			"tasks before they began", maxSelected), Remedy: "retry all of it"}
	}
	return without, nil
}
