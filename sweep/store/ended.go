package store

import "context"

// Ended lists the sweeps that have ended, the newest first, at most so many.
func (r *Reader) Ended(ctx context.Context, most int) ([]Sweep, error) {
	return several(r.db.QueryContext(ctx, selectSweeps+` WHERE ended IS NOT NULL ORDER BY seq DESC LIMIT ?`, most))
}
