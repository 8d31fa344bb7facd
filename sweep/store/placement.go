package store

import (
	"context"
	"database/sql"
	"errors"
)

// Placement is where an attempt of a task was placed.
type Placement struct {
	Worker string // "": the attempt does not exist, or its worker gave it back before it began
	Newest int    // the number of the task's newest attempt; 0: it has none
}

// Placement returns where an attempt of a task was placed, by the id of its sweep. An attempt is on
// disk before its worker can know of it.
func (r *Reader) Placement(ctx context.Context, sweep string, index int64, attempt int) (
	p Placement, err error) {
	const query = `SELECT attempt, CASE WHEN attempt = ?3 AND worker <> '' THEN worker
		ELSE coalesce((
			SELECT worker FROM attempts AS a
			WHERE a.sweep = t.sweep AND a.idx = t.idx AND a.attempt = ?3 AND a.superseded = 0
		), '') END
		FROM tasks AS t WHERE sweep = (SELECT seq FROM sweeps WHERE id = ?1) AND idx = ?2`
	err = r.db.QueryRowContext(ctx, query, sweep, index, attempt).Scan(&p.Newest, &p.Worker)
	if errors.Is(err, sql.ErrNoRows) {
		return Placement{}, nil
	}
	return p, readable(err)
}
