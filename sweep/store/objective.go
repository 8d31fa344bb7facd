package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// Unranked counts the succeeded tasks of a sweep that have no number for its objective, and reads the first of them, at
// most limit.
func (r *Reader) Unranked(ctx context.Context, s Sweep, limit int) (count int64, first []sweep.Task, err error) {
	var ranked int64
	err = r.db.QueryRowContext(ctx, `SELECT count(*) FROM tasks WHERE sweep = ? AND objective IS NOT NULL`, s.Seq).Scan(&ranked)
	if err != nil {
		return 0, nil, readable(err)
	}
	if count = s.Head.Rows[task.Succeeded] - ranked; count <= 0 || s.Record.Objective.IsZero() {
		return 0, nil, nil
	}
	const query = selectTasks + ` WHERE sweep = ? AND state = ? AND objective IS NULL ORDER BY idx LIMIT ?`
	for t, err := range r.tasks(ctx, query, []any{s.Seq, int64(task.Succeeded), int64(limit)}) {
		if err != nil {
			return 0, nil, err
		}
		first = append(first, t)
	}
	return count, first, nil
}

// Printed reports whether any task of a sweep has a final value of a metric.
func (r *Reader) Printed(ctx context.Context, s Sweep, metric string) (bool, error) {
	key := strings.TrimSuffix(strings.TrimPrefix(text(result.Final{{Name: metric}}), "{"), "0}")
	var one int
	err := r.db.QueryRowContext(ctx, `SELECT 1 FROM tasks WHERE sweep = ? AND instr(metrics, ?) LIMIT 1`, s.Seq, key).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, readable(err)
}
