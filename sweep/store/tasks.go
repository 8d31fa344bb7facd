package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"iter"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Tasks iterates over tasks of a sweep in constant memory. After an error nothing more comes.
func (r *Reader) Tasks(ctx context.Context, s Sweep, q Query) iter.Seq2[core.Task, error] {
	text, args := q.sql(s.Seq)
	return r.tasks(ctx, text, args)
}

func (r *Reader) tasks(ctx context.Context, text string, args []any) iter.Seq2[core.Task, error] {
	return func(yield func(core.Task, error) bool) {
		stopped := false
		var t core.Task
		metrics := 0
		err := r.scan(ctx, text, args, func(d decoder, row []driver.Value) (bool, error) {
			// as many as the task before had
			at := &rowBuffer{metrics: make(metric.Final, 0, metrics)}
			t = core.Task{}
			err := d.decode(row, &t, at)
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
// indexes of all rows beyond the cursor, the first index that was never handed out.
func (r *Reader) Unfinished(ctx context.Context, s Sweep, cursor int64) (open []core.Task,
	ahead []int64, err error) {
	for t, err := range r.Tasks(ctx, s, Query{States: unfinished}) {
		if err != nil {
			return nil, nil, err
		}
		open = append(open, t)
	}
	for t, err := range r.Tasks(ctx, s, Query{From: cursor}) {
		if err != nil {
			return nil, nil, err
		}
		ahead = append(ahead, t.Index)
	}
	return open, ahead, nil
}

var unfinished = []task.State{task.Pending, task.Queued, task.Claimed, task.Running}

// Task reads the row of one task; false when it has none yet.
func (r *Reader) Task(ctx context.Context, s Sweep, index int64) (core.Task, bool, error) {
	for t, err := range r.Tasks(ctx, s, Query{From: index, Limit: 1}) {
		return t, err == nil && t.Index == index, err
	}
	return core.Task{}, false, nil
}

// Tries reads the attempts that a task left behind, the oldest first; its newest is in its row.
func (r *Reader) Tries(ctx context.Context, s Sweep, index int64) (tries []core.Attempt, err error) {
	const query = `SELECT superseded, ` + tryColumns + ` FROM attempts WHERE sweep = ? AND idx = ? ORDER BY attempt, superseded`
	for t, err := range r.tasks(ctx, query, []any{s.Seq, index}) {
		if err != nil {
			return nil, err
		}
		tries = append(tries, t.Attempt)
	}
	return tries, nil
}

// Series reads the metrics that one attempt printed, in the order in which they came.
func (r *Reader) Series(ctx context.Context, s Sweep, index int64,
	attempt int) (all []metric.Sample, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT points FROM samples WHERE sweep = ? AND idx = ? AND attempt = ? ORDER BY seq`, s.Seq, index, attempt)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var points []byte
		var part []metric.Sample
		if err := errors.Join(rows.Scan(&points), json.Unmarshal(points, &part)); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, readable(rows.Err())
}

// Codes returns the code of each revision that a sweep used. Two definitions may have two codes at
// one revision; only stores that no writer has opened since have one for both.
func (r *Reader) Codes(ctx context.Context, s Sweep) (map[string]string, error) {
	query, args := `SELECT revision, code FROM codes WHERE sweep = ?`, []any{s.Seq}
	var have bool
	if err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'codes'`).Scan(&have); err != nil {
		return nil, readable(err)
	}
	if !have {
		query, args = `SELECT revision, code FROM revisions`, nil
	}
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	codes := map[string]string{}
	for rows.Next() {
		var revision, code string
		if err := rows.Scan(&revision, &code); err != nil {
			return nil, err
		}
		codes[revision] = code
	}
	return codes, readable(rows.Err())
}

// Revisions lists the revisions that tasks of a sweep ran or will run, and how many tasks each.
func (r *Reader) Revisions(ctx context.Context, s Sweep) (map[string]int64, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT revision, count(*) FROM tasks WHERE sweep = ? AND revision <> '' AND tries > 0 GROUP BY revision`, s.Seq)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var revision string
		var n int64
		if err := rows.Scan(&revision, &n); err != nil {
			return nil, err
		}
		found[revision] = n
	}
	return found, readable(rows.Err())
}
