package store

import (
	"context"

	"mlframework/sweep/core"
)

// Workers lists the workers by name.
func (r *Reader) Workers(ctx context.Context) (all []core.WorkerRecord, err error) {
	rows, err := r.db.QueryContext(ctx,
		`SELECT name, incarnation, host, program, started, drained, drained_for, slots, image,
			environment FROM workers ORDER BY name`)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var w core.WorkerRecord
		if err := rows.Scan(&w.Name, &w.Incarnation, &w.Host, &w.Program, &w.Started, &w.Drained,
			&w.DrainedFor, &w.Slots, &w.Image, &w.Environment); err != nil {
			return nil, readable(err)
		}
		all = append(all, w)
	}
	return all, readable(rows.Err())
}
