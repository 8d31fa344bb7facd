package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"iter"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Tasks iterates over tasks of a sweep in constant memory. After an error nothing more comes.
func (r *Reader) Tasks(ctx context.Context, s Sweep, q TaskQuery) iter.Seq2[core.Task, error] {
	text, args := q.sql(s.Seq)
	return r.tasks(ctx, s, text, args)
}

// tasks iterates over rows of tasks, or of earlier attempts, of a sweep.
func (r *Reader) tasks(ctx context.Context, s Sweep, text string, args []any) iter.Seq2[core.Task,
	error] {
	return func(yield func(core.Task, error) bool) {
		stopped := false
		var t core.Task
		metrics := 0
		err := r.scan(ctx, text, args, func(d decoder, row []driver.Value) (bool, error) {
			// as many as the task before had
			at := &rowBuffer{metrics: make(metric.Final, 0, metrics)}
			t = core.Task{}
			err := d.decode(row, &t, at)
			err = s.damagedTask(t.Index, err)
			metrics = len(at.metrics)
			stopped = err == nil && !yield(t, nil)
			return !stopped, err
		})
		if err != nil && !stopped {
			yield(core.Task{}, err)
		}
	}
}

// Unfinished reads what a ledger needs to go on with a sweep: its rows that have not ended, and the
// indexes of all rows beyond the cursor, the first index that was never handed out. The error is
// *DamagedSweep where one of them cannot be read, or is no task of the sweep.
func (r *Reader) Unfinished(ctx context.Context, s Sweep, cursor int64) (open []core.Task,
	ahead []int64, err error) {
	for t, err := range r.Tasks(ctx, s, TaskQuery{States: unfinished}) {
		if err == nil {
			err = s.checkIndex(t.Index)
		}
		if err != nil {
			return nil, nil, s.damagedSweep(err)
		}
		open = append(open, t)
	}
	for t, err := range r.Tasks(ctx, s, TaskQuery{From: cursor}) {
		if err == nil {
			err = s.checkIndex(t.Index)
		}
		if err != nil {
			return nil, nil, s.damagedSweep(err)
		}
		ahead = append(ahead, t.Index)
	}
	return open, ahead, nil
}

// checkIndex returns an error for the index of a row that is no task of the sweep.
func (s *Sweep) checkIndex(index int64) error {
	if n, ok := s.Record.Ranges.Ordinal(index); ok && n >= 0 && n < s.Head.Total {
		return nil
	}
	return s.damagedTask(index, errors.New("the sweep has no such task"))
}

var unfinished = []task.State{task.Pending, task.Queued, task.Claimed, task.Running}

// Task reads the row of one task; false when it has none yet.
func (r *Reader) Task(ctx context.Context, s Sweep, index int64) (core.Task, bool, error) {
	for t, err := range r.Tasks(ctx, s, TaskQuery{From: index, Limit: 1}) {
		return t, err == nil && t.Index == index, err
	}
	return core.Task{}, false, nil
}
