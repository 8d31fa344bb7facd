// Package master puts store, queue and ledger together: it owns the store and decides every transition of a task.
//
// One goroutine, the loop, holds the ledgers. It takes what came in (events, calls of people, heartbeats), lets the
// ledgers decide, places tasks on workers, commits all of it as one group, and only then acknowledges, publishes,
// answers and tells. So whoever got an answer finds it in the store after any crash. The commands import it.
package master

import (
	"context"
	"log/slog"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// linger is how long the loop gathers events while many arrive. A group costs a write of the disk however many tasks it
// holds.
const linger = 20 * time.Millisecond

// many is the number of events in one group from which on the loop lingers before the next.
const many = 8

// Options are what a master works with. Store and Queue are needed.
type Options struct {
	Store *store.Store
	Queue queue.Hub
	Log   *slog.Logger
	// Alone tells that the workers live and die with this process. What the store says is with a worker when the master
	// starts is then lost, and sweeps that ran are paused until somebody resumes them.
	Alone bool
	Now   func() time.Time // time.Now
}

// Master runs sweeps. Its methods may be called concurrently while Run runs; before and after they wait for their
// context.
type Master struct {
	o         Options
	calls     chan call
	sweeps    map[string]*active
	turn      []string  // ids of sweeps, in the order in which they get slots
	placed    time.Time // when tasks were last handed out
	workers   map[string]task.Heartbeat
	followers map[string]int // of live output, by sweep
	watch     watchers
}

// New makes a master.
func New(o Options) *Master {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Master{o: o, calls: make(chan call), sweeps: map[string]*active{}, workers: map[string]task.Heartbeat{}, followers: map[string]int{}}
}

// call is work for the loop. It is answered when its changes are on disk.
type call struct {
	do   func(context.Context) error
	done chan error
}

// do lets the loop run f and waits until what it changed is on disk.
func (m *Master) do(ctx context.Context, f func(context.Context) error) error {
	c := call{do: f, done: make(chan error, 1)}
	select {
	case m.calls <- c:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run is the loop. It returns nil when ctx ends, and an error when the store cannot be written: then nothing was
// acknowledged that is not on disk.
func (m *Master) Run(ctx context.Context) error {
	in, end := m.inputs(ctx)
	defer end()
	if err := m.load(ctx); err != nil {
		return err
	}
	var last step
	for {
		s, ok := m.gather(ctx, in, last)
		if !ok {
			return nil
		}
		if err := m.apply(ctx, s); err != nil {
			return err
		}
		last = *s
	}
}

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
	deliveries []queue.Delivery[task.Event]
	events     int
	calls      []call
	joined     []string // workers that were not known
}

// gather waits for something to do. After a group of many events it waits a little for more, unless somebody calls.
func (m *Master) gather(ctx context.Context, in inputs, last step) (*step, bool) {
	s := &step{}
	if !m.take(ctx, in, s, m.alarm()) {
		return s, ctx.Err() == nil
	}
	if last.events >= many {
		enough := time.After(linger)
		for len(s.calls) == 0 && m.take(ctx, in, s, enough) {
		}
	}
	return s, ctx.Err() == nil
}

// take waits for one input and notes it; false when the time is over or ctx ended.
func (m *Master) take(ctx context.Context, in inputs, s *step, over <-chan time.Time) bool {
	select {
	case d, ok := <-in.events:
		s.deliveries, s.events = append(s.deliveries, d), s.events+len(d.Items)
		return ok
	case h, ok := <-in.heartbeats:
		if !ok {
			return false
		}
		if _, known := m.workers[h.Worker]; !known {
			s.joined = append(s.joined, h.Worker)
		}
		m.workers[h.Worker] = h
		return ok
	case c := <-m.calls:
		s.calls = append(s.calls, c)
		return true
	case <-over:
		return false
	case <-ctx.Done():
		return false
	}
}

// alarm fires when the next task that backs off may be handed out; never, when none does. One that could have been
// handed out already waits for a slot, not for a time.
func (m *Master) alarm() <-chan time.Time {
	var first time.Time
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
