package master

import (
	"context"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// linger is how long the loop gathers events while many arrive. A group costs a write of the disk however many tasks it
// holds.
const linger = 20 * time.Millisecond

// many is the number of events in one group from which on the loop lingers before the next.
const many = 8

// inputs are the streams that the loop reads.
type inputs struct {
	events     <-chan queue.Delivery[task.Event]
	heartbeats <-chan task.Heartbeat
}

func (m *Master) inputs(ctx context.Context) (inputs, func()) {
	ctx, cancel := context.WithCancel(ctx)
	in := inputs{m.o.Queue.Events(ctx), m.o.Queue.Heartbeats(ctx)}
	var parts sync.WaitGroup
	parts.Go(func() {
		for l := range m.o.Queue.Lines(ctx) {
			m.line(ctx, l)
		}
	})
	parts.Go(func() {
		for p := range m.o.Queue.Pieces(ctx) {
			m.reads.answer(readable(p))
		}
	})
	parts.Go(func() { m.post.run(ctx) })
	return in, func() {
		cancel()
		parts.Wait()
		m.watch.close()
	}
}

// step is what came in for one group.
type step struct {
	events []task.Event
	acks   []func() error // of their deliveries
	call   *call          // of a person; one at most
	joined []string       // workers that have just begun
}

// gather waits for something to do; false when ctx ended. After a group of many events it waits a little for more,
// unless somebody calls, or a worker has so little at hand that its slots might wait too.
func (m *Master) gather(ctx context.Context, in inputs, last step) (*step, bool) {
	s := &step{}
	if m.take(ctx, in, s, m.alarm()) && len(last.events) >= many && m.supplied {
		over := time.After(linger)
		for s.call == nil && m.take(ctx, in, s, over) {
		}
	}
	return s, ctx.Err() == nil
}

// look looks after the workers, once a second.
func (m *Master) look(ctx context.Context) {
	if now := m.o.Now(); !m.o.Alone && now.Sub(m.ticked) >= tick {
		m.expire(now)
		m.release(now)
		m.explain()
		m.unexpect(now)
		m.expireSecrets(now)
		m.missing.resolve(now, func(id string) (core.Head, error) {
			s, err := m.o.Store.Sweep(ctx, id)
			return s.Head, err
		})
	}
}

// take waits for one input and notes it; false when the time is over or ctx ended.
func (m *Master) take(ctx context.Context, in inputs, s *step, over <-chan time.Time) bool {
	select {
	case d, ok := <-in.events:
		if ok {
			s.events, s.acks = append(s.events, d.Items...), append(s.acks, d.Ack)
		}
		return ok
	case h, ok := <-in.heartbeats:
		if ok {
			m.hearSafely(ctx, s, h)
		}
		return ok
	case c := <-m.calls:
		s.call = &c
		return true
	case <-over:
		return false
	case <-ctx.Done():
		return false
	}
}

// hearSafely notes what a worker says of itself. A heartbeat that makes this program panic is left out: what it changed
// and is not on disk is thrown away, and the worker is as one that was not heard of yet.
func (m *Master) hearSafely(ctx context.Context, s *step, h task.Heartbeat) {
	draft, entries := len(m.post.draft), len(m.entries)
	if m.guard("heartbeat", func() error { m.hear(ctx, s, h); return nil }) == nil {
		return
	}
	m.post.draft = m.post.draft[:min(draft, len(m.post.draft))]
	m.entries = m.entries[:entries]
	if w := m.workers[h.Worker]; w != nil {
		*w = member{kept: w.kept, changed: w.changed, measure: w.measure, joins: w.joins}
	}
	if err := m.read(context.WithoutCancel(ctx)); err != nil {
		m.o.Log.Error("the store cannot be read after a fault", "error", err)
	}
}

// tick is how often leases are looked at, and stalled is after how long without it this process was held up itself.
const (
	tick    = time.Second
	stalled = 5 * time.Second
)

// alarm fires when the next task that backs off may be handed out, and when leases are to be looked at; never, when there
// is neither. A task that could have been handed out already waits for a slot, not for a time.
func (m *Master) alarm() <-chan time.Time {
	var first time.Time
	if !m.o.Alone && (len(m.workers) > 0 || m.keepsSecrets()) {
		first = m.ticked.Add(tick)
	}
	for _, a := range m.sweeps {
		if t := a.ledger.Waiting(m.placed); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(first.Sub(m.o.Now()))
}
