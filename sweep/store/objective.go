package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// ranking is the value of each succeeded task of a sweep for the sweep's objective, by index; nil
// if it has none, or cannot be read.
type ranking map[int64]any

// rankings returns those of the sweeps in the rows of a step whose objective is another now, by
// Seq.
func (r *Reader) rankings(ctx context.Context, rows *core.Rows) (map[int64]ranking, error) {
	all := map[int64]ranking{}
	for i := range rows.Sweeps {
		s := &rows.Sweeps[i]
		if !s.Ranked {
			continue
		}
		values := ranking{}
		text, args := TaskQuery{States: []task.State{task.Succeeded, task.Timeout}}.sql(s.Seq)
		err := r.scan(ctx, text, args, func(d decoder, row []driver.Value) (bool, error) {
			var t core.Task
			if d.decode(row, &t, &rowBuffer{}) == nil {
				values[t.Index] = objective(s.Record.Objective, t)
			} else {
				values[t.Index] = nil
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		all[s.Seq] = values
	}
	return all, nil
}

// Unranked counts the succeeded tasks of a sweep that have no number for its objective, and those
// among them that reported nan for it, and reads the first of them, at most limit.
func (r *Reader) Unranked(ctx context.Context, s Sweep, limit int) (count, nan int64,
	first []core.Task, err error) {
	var ranked int64
	query, args := `SELECT count(*) FROM tasks WHERE sweep = ? AND objective IS NOT NULL`, []any{
		s.Seq}
	if s.Record.Objective.Timeouts { // else only those that succeeded have one
		query, args = query+` AND +state = ?`, append(args, int64(task.Succeeded))
	}
	err = r.db.QueryRowContext(ctx, query, args...).Scan(&ranked)
	if err != nil {
		return 0, 0, nil, readable(err)
	}
	if count = s.Head.Rows[task.Succeeded] - ranked; count <= 0 || s.Record.Objective.IsZero() {
		return 0, 0, nil, nil
	}
	const unranked = selectTasks +
		` WHERE sweep = ? AND state = ? AND objective IS NULL ORDER BY idx LIMIT ?`
	args = []any{s.Seq, int64(task.Succeeded), int64(limit)}
	for t, err := range r.tasks(ctx, s, unranked, args) {
		if err != nil {
			return 0, 0, nil, err
		}
		first = append(first, t)
	}
	const countNaN = `SELECT count(*) FROM tasks WHERE sweep = ? AND state = ? AND objective IS NULL AND instr(metrics, ?)`
	err = r.db.QueryRowContext(ctx, countNaN, s.Seq, int64(task.Succeeded),
		storedName(s.Record.Objective.Metric)+"null").Scan(&nan)
	return count, nan, first, readable(err)
}

// HasMetric reports whether any task of a sweep has a final value of a metric. Where none has,
// names are those that tasks have, as MetricNames lists them, if every task was read to know; else
// nil.
func (r *Reader) HasMetric(ctx context.Context, s Sweep, metric string) (printed bool,
	names []string, err error) {
	n, first, complete := r.names.known(s.Seq)
	if !complete {
		first = map[string]int64{}
		names, err = r.readNames(ctx, s, first, metric)
		if _, printed = first[metric]; printed || err != nil {
			return printed, nil, err
		}
		if n != nil {
			r.names.fill(n, first)
		}
		return false, names, nil
	}
	from, have := first[metric]
	if !have {
		return false, nil, nil
	}
	var one int
	err = r.db.QueryRowContext(ctx, `SELECT 1 FROM tasks
		WHERE sweep = ? AND idx >= ? AND instr(metrics, ?) LIMIT 1`,
		s.Seq, from, storedName(metric)).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil, nil
	}
	return err == nil, nil, readable(err)
}

// storedName returns how a metric's name stands before its value in the column metrics.
func storedName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text(metric.Final{{Name: name}}), "{"), "0}")
}
