package master

import (
	"context"
	"errors"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// Watch follows a sweep, in some detail. The caller calls the returned function at the end.
func (m *Master) Watch(ctx context.Context, id string, d api.Detail) (w *Watcher, stop func(),
	err error) {
	err = m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) {
		sweep, err := m.add(ctx, id)
		if err != nil {
			return nil, err
		}
		s, err := m.o.Store.Sweep(ctx, sweep)
		if err != nil {
			return nil, err
		}
		if w, err = m.watchStored(ctx, s, d); err != nil {
			return nil, err
		}
		if !d.Output() {
			return core.Note{}, nil
		}
		return core.Follow{Sweep: w.sweep, More: 1}, nil
	}})
	if err != nil {
		if w != nil {
			w.close()
		}
		return nil, nil, err
	}
	return w, m.unwatch(ctx, w, d), nil
}

// watchStored adds a watcher of a sweep that the core has. It is for the loop.
func (m *Master) watchStored(ctx context.Context, s store.Sweep, d api.Detail) (*Watcher, error) {
	best, err := m.best(ctx, s)
	if err != nil {
		return nil, err
	}
	record, _ := m.core.Record(s.Head.ID)
	head, _ := m.core.Head(s.Head.ID)
	return m.watch.add(record, head, best, d), nil
}

// unwatch returns the function that ends a watcher.
func (m *Master) unwatch(ctx context.Context, w *Watcher, d api.Detail) func() {
	return func() {
		w.close()
		if !d.Output() {
			return
		}
		go func() { // the loop may be busy; it fails when the master is gone
			_ = m.do(context.WithoutCancel(ctx), core.Follow{Sweep: w.sweep, More: -1})
		}()
	}
}

// best reads which task of a sweep ranks first; nil where none does, or that cannot be read.
func (m *Master) best(ctx context.Context, s store.Sweep) (best *leader, err error) {
	o := s.Record.Objective
	if o.IsZero() {
		return nil, nil
	}
	q := store.TaskQuery{Best: -1, Limit: 1}
	if o.Maximize {
		q.Best = 1
	}
	for t, err := range m.o.Store.Tasks(ctx, s, q) {
		if d, ok := errors.AsType[*store.DamagedTask](err); ok {
			m.damageTask(d)
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		best = best.better(s.Head.ID, o, &t)
	}
	return best, nil
}
