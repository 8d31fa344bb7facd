package master

import (
	"context"

	"mlframework/sweep/core"
)

// Workers lists the workers by name.
func (m *Master) Workers(ctx context.Context) (all []core.Worker, err error) {
	err = m.query(ctx, func(context.Context) error { all = m.core.Workers(); return nil })
	return all, err
}

// Blocked returns which tasks of a sweep wait for a worker, by index, and why; see
// core.Core.Blocked.
func (m *Master) Blocked(ctx context.Context, id string) (waits map[int64]string, err error) {
	err = m.query(ctx, func(context.Context) error { waits = m.core.Blocked(id); return nil })
	return waits, err
}

// Notices returns what sweeps wait for and which of their workers are silent; see
// core.Core.Notices.
func (m *Master) Notices(ctx context.Context) (all map[string]core.Notices, err error) {
	err = m.query(ctx, func(context.Context) error { all = m.core.Notices(); return nil })
	return all, err
}

// Drain lets a worker finish what runs and take nothing new, or undoes that; see core.DrainWorker.
func (m *Master) Drain(ctx context.Context, d core.DrainWorker) (core.Worker, error) {
	return m.changeWorker(ctx, d.Worker, d)
}

// Resize changes how many attempts a worker runs at a time; 0 is what it was started with. It
// outlives master and worker.
func (m *Master) Resize(ctx context.Context, worker string, slots int) (core.Worker, error) {
	return m.changeWorker(ctx, worker, core.ResizeWorker{Worker: worker, Slots: slots})
}

// Restart lets a worker's process end, so that what supervises it starts it again; see
// core.RestartWorker.
func (m *Master) Restart(ctx context.Context, worker string, now bool) (core.Worker, error) {
	return m.changeWorker(ctx, worker, core.RestartWorker{Worker: worker, Now: now})
}

// changeWorker decides a command about a worker, and returns how the worker is then. What was done
// before under the same idempotency key is not done again.
func (m *Master) changeWorker(ctx context.Context, worker string, command core.Command,
) (is core.Worker, err error) {
	audit := AuditOf(ctx)
	prepare := func(ctx context.Context) (core.Command, error) {
		if again, err := m.repeated(ctx, audit, worker); again || err != nil {
			return core.Note{}, err
		}
		return command, nil
	}
	then := func() { is = m.core.Worker(worker) }
	err = m.ask(ctx, call{prepare: prepare, audit: audit, then: then})
	return is, err
}

// Forget drops a worker that is away, and its queue. What it had goes to others. A worker of that
// name that comes later is another one: there is nothing to be done twice.
func (m *Master) Forget(ctx context.Context, worker string) error {
	err := m.change(ctx, func(context.Context) (core.Command, error) {
		return core.ForgetWorker{Worker: worker}, nil
	})
	if err != nil {
		return err
	}
	return m.o.Queue.RemoveWorker(ctx, worker)
}
