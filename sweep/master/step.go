package master

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mlframework/sweep"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// mail is a batch for one worker.
type mail struct {
	worker string
	batch  task.Batch
}

// apply takes one step: ledgers decide, the store keeps, and only then is anybody told.
func (m *Master) apply(ctx context.Context, s *step) error {
	for _, d := range s.deliveries {
		for _, e := range d.Items {
			if err := m.event(ctx, e); err != nil {
				return err
			}
		}
	}
	answers := make([]error, len(s.calls))
	for i, c := range s.calls {
		answers[i] = c.do(ctx)
	}
	out := m.place()
	orders, err := m.commit(ctx)
	if err != nil {
		for _, c := range s.calls {
			c.done <- err
		}
		return err
	}
	for i, c := range s.calls {
		c.done <- answers[i]
	}
	for _, d := range s.deliveries {
		if err := d.Ack(); err != nil {
			m.o.Log.Warn("events not acknowledged", "error", err)
		}
	}
	for _, worker := range s.joined {
		m.greet(ctx, worker)
	}
	m.send(ctx, out, orders)
	m.forget()
	return nil
}

// event gives an event to its sweep's ledger. One of a sweep that is not known is dropped.
func (m *Master) event(ctx context.Context, e task.Event) error {
	a := m.sweeps[e.Sweep]
	if a == nil {
		var err error
		if a, err = m.sweep(ctx, e.Sweep); err != nil {
			m.o.Log.Warn("event of an unknown sweep", "sweep", e.Sweep, "error", err)
			return nil
		}
	}
	a.ledger.Event(e, m.o.Now())
	a.learn(e.Outcome)
	return nil
}

// place hands tasks to workers that have room: sweeps in turn, a batch each, until every window is full.
func (m *Master) place() (out []mail) {
	now := m.o.Now()
	m.placed = now
	for _, name := range slices.Sorted(maps.Keys(m.workers)) {
		w := m.workers[name]
		if w.Draining {
			continue
		}
		held := 0
		for _, a := range m.sweeps {
			held += a.ledger.Load(name)
		}
		for idle := 0; idle < len(m.turn); {
			id := m.turn[0]
			m.turn = append(m.turn[1:], id)
			a := m.sweeps[id]
			tasks := a.ledger.Place(min(chunk(a.mean), window(w.Slots, a.mean)-held), name, now)
			if len(tasks) == 0 {
				idle++
				continue
			}
			idle, held = 0, held+len(tasks)
			out = append(out, mail{name, a.batch(tasks)})
		}
	}
	return out
}

// commit writes what the ledgers changed as one group and returns the control messages to send.
func (m *Master) commit(ctx context.Context) (orders []sweep.Order, err error) {
	var groups []store.Group
	for _, a := range m.sweeps {
		if c := a.ledger.Take(); !c.Empty() {
			groups = append(groups, store.Group{Sweep: a.stored, Changes: c})
			orders = append(orders, c.Controls...)
		}
	}
	if len(groups) == 0 {
		return nil, nil
	}
	if err := m.o.Store.Commit(context.WithoutCancel(ctx), groups...); err != nil {
		return nil, fmt.Errorf("write the store: %w", err)
	}
	for _, g := range groups {
		m.watch.changed(m.sweeps[g.Sweep.Head.ID].ledger.Head(), g.Changes.Tasks)
	}
	return orders, nil
}

// send publishes batches and control messages. What cannot be sent now is sent again when the queue is back.
func (m *Master) send(ctx context.Context, out []mail, orders []sweep.Order) {
	for _, l := range out {
		if err := m.o.Queue.Publish(ctx, l.worker, l.batch); err != nil {
			m.o.Log.Warn("batch not published", "worker", l.worker, "error", err)
		}
	}
	for _, o := range orders {
		if err := m.o.Queue.Control(ctx, o.Worker, o.Control); err != nil {
			m.o.Log.Warn("control message not sent", "worker", o.Worker, "error", err)
		}
	}
}
