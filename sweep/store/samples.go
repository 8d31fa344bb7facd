package store

import (
	"context"
	"encoding/json"
	"errors"

	"mlframework/sweep/metric"
)

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
