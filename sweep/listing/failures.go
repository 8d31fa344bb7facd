package listing

import (
	"context"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/failure"
	"mlframework/sweep/store"
)

// Failures groups the tasks of a sweep that failed by how their newest attempts ended.
func (a *Archive) Failures(ctx context.Context, id string) (api.Failures, error) {
	s, err := a.Stored(ctx, id)
	if err != nil {
		return api.Failures{}, err
	}
	q := store.TaskQuery{States: api.FailedStates, Fields: failureFields, Frames: true}
	return api.GroupFailures(s.Head.ID, func(yield func(failure.Failure)) error {
		return a.Store.Scan(ctx, s, q, func(t *core.Task) bool {
			yield(failureOf(t))
			return true
		})
	})
}
