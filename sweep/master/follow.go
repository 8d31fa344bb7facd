package master

import (
	"context"
	"time"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Watch follows a sweep, in some detail. The caller calls the returned function at the end.
func (m *Master) Watch(ctx context.Context, id string, d Detail) (w *Watcher, stop func(), err error) {
	_, err = m.with(ctx, id, func(a *active) error {
		best, err := m.best(ctx, a)
		if err != nil {
			return err
		}
		w = m.watch.add(a.stored.Record, a.ledger.Head(), best, d)
		if d.Output() {
			m.follow(w.sweep, 1)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return w, func() {
		w.close()
		if !d.Output() {
			return
		}
		go func() { // the loop may be busy; it fails when the master is gone
			_ = m.do(context.WithoutCancel(ctx), func(context.Context) error { m.follow(w.sweep, -1); return nil })
		}()
	}, nil
}

// best reads which task of a sweep ranks first.
func (m *Master) best(ctx context.Context, a *active) (best *Best, err error) {
	o := a.stored.Record.Objective
	if o.IsZero() {
		return nil, nil
	}
	q := store.Query{Best: -1, Limit: 1}
	if o.Maximize {
		q.Best = 1
	}
	for t, err := range m.o.Store.Tasks(ctx, a.stored, q) {
		if err != nil {
			return nil, err
		}
		best = best.better(a.stored.Head.ID, o, &t)
	}
	return best, nil
}

// follow notes one follower of a sweep's output more or fewer, and tells the workers of the first and the last.
func (m *Master) follow(sweep string, more int) {
	before := m.followers[sweep]
	m.followers[sweep] = before + more
	if m.followers[sweep] == 0 {
		delete(m.followers, sweep)
	}
	if before == 0 || before+more == 0 {
		for worker := range m.workers {
			m.show(worker, sweep, more > 0)
		}
	}
}

// expectFor is for how long a sweep's output is wanted for a follower that was announced.
const expectFor = 10 * time.Second

// followed tells whether somebody follows a sweep's output, or is about to.
func (m *Master) followed(sweep string) bool {
	_, expected := m.expected[sweep]
	return expected || m.followers[sweep] > 0
}

// unexpect gives up waiting for followers that were announced and did not come.
func (m *Master) unexpect(now time.Time) {
	for sweep, until := range m.expected {
		if now.Before(until) {
			continue
		}
		delete(m.expected, sweep)
		if m.followers[sweep] == 0 {
			for worker := range m.workers {
				m.show(worker, sweep, false)
			}
		}
	}
}

// greet tells a worker that has just come what it cannot know: what is followed, and what a person asked of it.
func (m *Master) greet(worker string) {
	if m.o.Alone { // it came with this master, and what it is told might overtake its first tasks
		return
	}
	w := m.workers[worker]
	m.post.tell(worker, task.Control{Kind: task.FollowControl, Off: true})
	if w.stale { // what waits there was given to others meanwhile
		w.stale = false
		m.post.tell(worker, task.Control{Kind: task.DrainControl})
	}
	m.drain(w)
	if w.kept.Slots > 0 {
		m.post.tell(worker, task.Control{Kind: task.SlotsControl, Slots: w.kept.Slots})
	}
	for sweep := range m.followers {
		m.show(worker, sweep, true)
	}
	for sweep := range m.expected {
		m.show(worker, sweep, true)
	}
}

func (m *Master) show(worker, sweep string, on bool) {
	m.post.tell(worker, task.Control{Kind: task.FollowControl, Sweep: sweep, Off: !on})
}
