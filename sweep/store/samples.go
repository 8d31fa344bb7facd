package store

import (
	"context"
	"encoding/json"
	"errors"

	"mlframework/sweep/metric"
)

// Points calls each with the values of a metric that the newest attempts of tasks printed, task by
// task, until it returns false. Bytes is how much was read for them. Tasks that printed nothing are
// left out. The points are used again for the next task.
func (r *Reader) Points(ctx context.Context, s Sweep, indexes []int64, name string,
	each func(index int64, points []metric.StepValue, bytes int) bool) error {
	rows, err := r.db.QueryContext(ctx, `SELECT s.idx, s.points FROM tasks t JOIN samples s
		ON s.sweep = t.sweep AND s.idx = t.idx AND s.attempt = t.attempt
		WHERE t.sweep = ? AND t.idx IN (SELECT value FROM json_each(?)) ORDER BY t.idx, s.seq`,
		s.Seq, text(indexes))
	if err != nil {
		return readable(err)
	}
	defer rows.Close()
	var points []metric.StepValue
	task, bytes := int64(-1), 0
	for rows.Next() {
		var index int64
		var part string
		if err := rows.Scan(&index, &part); err != nil {
			return readable(err)
		}
		if index != task {
			if task >= 0 && !each(task, points, bytes) {
				return nil
			}
			task, bytes, points = index, 0, points[:0]
		}
		bytes += len(part)
		if points, err = metric.AppendStepValues(points, part, name); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return readable(err)
	}
	if task >= 0 {
		each(task, points, bytes)
	}
	return nil
}

// Series reads the metrics that one attempt printed, in the order in which they came.
func (r *Reader) Series(ctx context.Context, s Sweep, index int64,
	attempt int) (all []metric.Sample, err error) {
	rows, err := r.db.QueryContext(ctx,
		`SELECT points FROM samples WHERE sweep = ? AND idx = ? AND attempt = ? ORDER BY seq`,
		s.Seq, index, attempt)
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
