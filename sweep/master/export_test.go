package master

import (
	"context"
	"log/slog"
	"sync/atomic"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// What a watcher that is slow gets at most at once.
const (
	MaxRows  = maxRows
	MaxLines = maxLines
)

// Query lets the loop run f.
func (m *Master) Query(ctx context.Context, f func(context.Context) error) error {
	return m.query(ctx, f)
}

// Do lets the loop prepare a command by f, that changes nothing.
func (m *Master) Do(ctx context.Context, f func(context.Context) error) error {
	err := m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) {
		return core.Note{}, f(ctx)
	}})
	return err
}

// Shown is a watcher, and what tells it of lines and tasks.
func Shown(r core.Record, h core.Head, d api.Detail) (w *Watcher, line func(task.Line),
	changed func(core.Head, []core.Task), end func()) {
	ws := &watchers{}
	return ws.add(r, h, nil, d), ws.line,
		func(h core.Head, tasks []core.Task) { ws.changed(r, h, tasks) }, ws.close
}

// Outbox is what sends messages to workers.
type Outbox struct{ box outbox }

// NewOutbox makes an outbox that sends nothing before it runs.
func NewOutbox(q queue.MasterEndpoint, log *slog.Logger) *Outbox {
	var o Outbox
	o.box.init(q, log)
	return &o
}

// Send hands over messages.
func (o *Outbox) Send(messages ...core.Message) { o.box.send(messages) }

// Run sends until ctx ends.
func (o *Outbox) Run(ctx context.Context) { o.box.run(ctx) }

// Pending is how many messages the queue has not taken.
func (o *Outbox) Pending() int { return o.box.pending() }

// SpyStore has what is asked of the store go through a spy; call it before Run.
func (m *Master) SpyStore() *StoreSpy {
	s := &StoreSpy{sweepStore: m.sweeps}
	m.sweeps = s
	return s
}

// StoreSpy knows what was asked of a store.
type StoreSpy struct {
	sweepStore
	searches atomic.Int64
	damaged  atomic.Pointer[store.DamagedTask]
}

// Searches is how often a sweep was searched for that is not there.
func (s *StoreSpy) Searches() int { return int(s.searches.Load()) }

// Damage lets a task be one that cannot be read.
func (s *StoreSpy) Damage(d store.DamagedTask) { s.damaged.Store(&d) }

func (s *StoreSpy) Sweep(ctx context.Context, id string) (store.Sweep, error) {
	found, err := s.sweepStore.Sweep(ctx, id)
	if err != nil {
		s.searches.Add(1)
	}
	return found, err
}

func (s *StoreSpy) AttemptWorker(ctx context.Context, sweep string, index int64, attempt int) (
	store.AttemptWorker, error) {
	if d := s.damaged.Load(); d != nil && d.Task == (task.ID{Sweep: sweep, Index: index}) {
		return store.AttemptWorker{}, d
	}
	return s.sweepStore.AttemptWorker(ctx, sweep, index, attempt)
}

// Senders knows the workers that lines of live output come from.
type Senders struct{ known senders }

// Register notes the host of a worker.
func (s *Senders) Register(w core.WorkerRecord) { s.known.register(w) }

// Changed drops what is known of tasks that have another attempt now.
func (s *Senders) Changed(sweep string, tasks ...core.Task) { s.known.changed(sweep, tasks) }

// Host returns the host of the worker that sent a line; false: it is dropped.
func (s *Senders) Host(l task.Line, read func() (store.AttemptWorker, error)) (string, bool,
	error) {
	return s.known.host(l, read)
}

// Refused is how many lines were of attempts that their worker never had.
func (s *Senders) Refused() int64 { return s.known.refused.Load() }
