package master

import (
	"context"
	"time"

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
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for l := range m.o.Queue.Lines(ctx) {
			m.watch.line(l)
		}
	}()
	return in, func() {
		cancel()
		<-shown
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
			m.hear(s, h)
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

// hear notes what a worker says of itself.
func (m *Master) hear(s *step, h task.Heartbeat) {
	if h.Version > task.Version {
		m.o.Log.Warn("heartbeat of a newer version ignored", "worker", h.Worker, "version", h.Version, "understood", task.Version)
		return
	}
	if before, known := m.workers[h.Worker]; !known || before.Incarnation != h.Incarnation {
		s.joined = append(s.joined, h.Worker)
	}
	m.workers[h.Worker] = h
}

// alarm fires when the next task that backs off may be handed out, or the next try to send is due; never, when there is
// neither. A task that could have been handed out already waits for a slot, not for a time.
func (m *Master) alarm() <-chan time.Time {
	first := m.post.again
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
