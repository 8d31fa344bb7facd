package infra

import (
	"context"

	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// setSlots has a worker run another number of tasks at a time. After a failure it has those from
// before.
func (a *applier) setSlots(ctx context.Context, m *connectedHost, do plan.SetSlots) error {
	if do.Limits != (docker.Limits{}) {
		if err := m.engine.Update(ctx, do.Container, do.Limits); err != nil {
			return err
		}
	}
	tell := func(ctx context.Context, n int) error {
		return a.o.Control.Resize(ctx, a.master(), do.Worker, n)
	}
	a.onFailure(m, "give the worker its slots again", func(ctx context.Context) error {
		return tell(ctx, do.Before)
	})
	return tell(ctx, do.Slots)
}
