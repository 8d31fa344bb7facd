package store

import (
	"context"

	"mlframework/sweep/core"
)

// EarlierAttempts reads the attempts that a task left behind, the oldest first; its newest is in
// its row.
func (r *Reader) EarlierAttempts(ctx context.Context, s Sweep,
	index int64) (attempts []core.Attempt,
	err error) {
	const query = `SELECT idx, superseded, ` + attemptColumns + ` FROM attempts
		WHERE sweep = ? AND idx = ? ORDER BY attempt, superseded`
	for t, err := range r.tasks(ctx, s, query, []any{s.Seq, index}) {
		if err != nil {
			return nil, err
		}
		attempts = append(attempts, t.Attempt)
	}
	return attempts, nil
}
