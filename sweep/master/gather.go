package master

import (
	"context"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// linger is how long the loop gathers events while many arrive. A group costs a write of the disk
// however many tasks it holds.
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
	parts.Go(func() { m.outbox.run(ctx) })
	return in, func() {
		cancel()
		parts.Wait()
		m.watch.close()
	}
}

// stepInput is what came in for one group.
type stepInput struct {
	heartbeats []task.Heartbeat
	events     []task.Event
	acks       []func() error // of their deliveries
	call       *call          // one command at most
	supplied   bool           // after the step: every worker has enough at hand
}

// gather waits for something to do; false when ctx ended. After a group of many events it waits a
// little for more, unless there is a call, or a worker has so little at hand that its slots might
// wait too.
func (m *Master) gather(ctx context.Context, in inputs, last stepInput) (*stepInput, bool) {
	s := &stepInput{}
	if m.take(ctx, in, s, m.alarm()) && len(last.events) >= many && last.supplied {
		over := time.After(linger)
		for s.call == nil && m.take(ctx, in, s, over) {
		}
	}
	return s, ctx.Err() == nil
}

// take waits for one input and notes it; false when the time is over or ctx ended.
func (m *Master) take(ctx context.Context, in inputs, s *stepInput, over <-chan time.Time) bool {
	select {
	case d, ok := <-in.events:
		if ok {
			s.events, s.acks = append(s.events, d.Items...), append(s.acks, d.Ack)
		}
		return ok
	case h, ok := <-in.heartbeats:
		if ok {
			s.heartbeats = append(s.heartbeats, h)
		}
		return ok
	case c := <-m.calls:
		if c.query == nil {
			s.call = &c
			return true
		}
		err := m.recoverPanic("query", func() error { return c.query(context.WithoutCancel(ctx)) })
		c.done <- err
		return true
	case <-over:
		return false
	case <-ctx.Done():
		return false
	}
}

// alarm fires when the next step is due although nothing comes in; never, when none is.
func (m *Master) alarm() <-chan time.Time {
	next := m.core.Next()
	if next.IsZero() {
		return nil
	}
	if m.pausedUntil.After(next) {
		next = m.pausedUntil
	}
	return time.After(next.Sub(m.o.Now()))
}
