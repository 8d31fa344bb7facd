package master

import (
	"context"
	"time"

	"mlframework/sweep/task"
)

// Watch follows a sweep: its counts, rows and, with output, its live output. The caller calls the returned function at
// the end.
func (m *Master) Watch(ctx context.Context, id string, output bool) (w *Watcher, stop func(), err error) {
	var name string
	_, err = m.with(ctx, id, func(a *active) error {
		h := a.ledger.Head()
		w, name = m.watch.add(a.stored.Record, h), h.ID
		if output {
			m.follow(ctx, name, 1)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return w, func() {
		w.close()
		if !output {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = m.do(ctx, func(ctx context.Context) error { m.follow(ctx, name, -1); return nil })
	}, nil
}

// follow notes one follower of a sweep's output more or fewer, and tells the workers of the first and the last.
func (m *Master) follow(ctx context.Context, sweep string, more int) {
	before := m.followers[sweep]
	m.followers[sweep] = before + more
	if m.followers[sweep] == 0 {
		delete(m.followers, sweep)
	}
	if before == 0 || before+more == 0 {
		for name := range m.workers {
			m.show(ctx, name, sweep, more > 0)
		}
	}
}

// greet tells a worker that has just come what is followed.
func (m *Master) greet(ctx context.Context, worker string) {
	for sweep := range m.followers {
		m.show(ctx, worker, sweep, true)
	}
}

func (m *Master) show(ctx context.Context, worker, sweep string, on bool) {
	c := task.Control{Version: task.Version, Kind: task.FollowControl, Sweep: sweep, Off: !on}
	if err := m.o.Queue.Control(ctx, worker, c); err != nil {
		m.o.Log.Warn("control message not sent", "worker", worker, "error", err)
	}
}
