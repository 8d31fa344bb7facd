package invariants

import (
	"context"
	"iter"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// Source is what was kept of sweeps. A *store.Reader is one; a simulation has its own.
type Source interface {
	// Sweeps lists all sweeps, the newest first.
	Sweeps(ctx context.Context) ([]store.Sweep, error)
	// Tasks yields rows of a sweep in the order of their indexes. The zero query is all of them.
	Tasks(ctx context.Context, s store.Sweep, q store.TaskQuery) iter.Seq2[core.Task, error]
	// EarlierAttempts lists the attempts that a task left behind, the oldest first.
	EarlierAttempts(ctx context.Context, s store.Sweep, index int64) ([]core.Attempt, error)
}
