// Package memory is the queue within one process: what --local runs on, and the fake of tests. It keeps the contract of
// package queue, but that nothing outlives the process.
//
// cmd/run-tasks and the tests of sweep may import it. It imports the contract and sweep/task only.
package memory

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// linesKept bounds live output that the master did not take yet.
const linesKept = 1024

// piecesKept bounds answers that the master did not take yet; they are up to task.MostRead long.
const piecesKept = 64

// Queue is the master's end and makes those of the workers. The zero value is an empty queue. It is safe for concurrent
// use, and must not be copied.
type Queue struct {
	outage     outage
	events     box[task.Event]
	heartbeats box[task.Heartbeat]
	lines      box[task.Line]
	pieces     box[task.Piece]
	dead       box[task.DeadLetter]
	deadCount  atomic.Int64 // dead letters ever added

	mu    sync.Mutex
	ports map[string]*port
}

var _ queue.Hub = (*Queue)(nil)

// New makes an empty queue.
func New() *Queue { return &Queue{} }

// Outage makes the queue unreachable for everybody, or reachable again. What it holds is kept.
func (q *Queue) Outage(on bool) { q.outage.set(on) }

// Purge drops the batches that wait for a worker, as a person with a broker's tools might, and tells how many they were.
func (q *Queue) Purge(worker string) int { return q.port(worker).tasks.purge() }

// Port is the end of one worker.
func (q *Queue) Port(worker string) queue.Port { return q.port(worker) }

func (q *Queue) port(worker string) *port {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.ports[worker]
	if p == nil {
		p = &port{name: worker, hub: q}
		if q.ports == nil {
			q.ports = map[string]*port{}
		}
		q.ports[worker] = p
	}
	p.removed = false
	return p
}

// Publish implements queue.Hub.
func (q *Queue) Publish(_ context.Context, worker string, batches ...task.Batch) error {
	if q.outage.on() {
		return queue.ErrAway
	}
	q.port(worker).tasks.put(batches...)
	return nil
}

// Events implements queue.Hub.
func (q *Queue) Events(ctx context.Context) <-chan queue.Delivery[task.Event] {
	return deliver(ctx, &q.events, math.MaxInt, &q.outage)
}

// Control implements queue.Hub. A message to a worker that is away waits for it.
func (q *Queue) Control(_ context.Context, worker string, c task.Control) error {
	if q.outage.on() {
		return queue.ErrAway
	}
	q.port(worker).controls.put(c)
	return nil
}

// Heartbeats implements queue.Hub.
func (q *Queue) Heartbeats(ctx context.Context) <-chan task.Heartbeat {
	return pour(ctx, &q.heartbeats)
}

// Lines implements queue.Hub.
func (q *Queue) Lines(ctx context.Context) <-chan task.Line { return pour(ctx, &q.lines) }

// Pieces implements queue.Hub.
func (q *Queue) Pieces(ctx context.Context) <-chan task.Piece { return pour(ctx, &q.pieces) }

// Remove implements queue.Hub.
func (q *Queue) Remove(_ context.Context, worker string) error {
	if q.outage.on() {
		return queue.ErrAway
	}
	p := q.port(worker)
	p.tasks.purge()
	q.mu.Lock()
	defer q.mu.Unlock()
	p.removed = true
	return nil
}

// Status implements queue.Hub.
func (q *Queue) Status() queue.Status {
	on, since := q.outage.status()
	s := queue.Status{Away: on, Since: since}
	if on {
		s.Reason = "an outage was switched on"
	}
	return s
}

// port is one worker's end.
type port struct {
	name     string
	hub      *Queue
	removed  bool // and not used since; under the lock of the hub
	tasks    box[task.Batch]
	controls box[task.Control]
}

func (p *port) Consume(ctx context.Context) <-chan queue.Delivery[task.Batch] {
	return deliver(ctx, &p.tasks, 1, &p.hub.outage)
}

func (p *port) Emit(_ context.Context, events ...task.Event) error {
	if p.hub.outage.on() {
		return queue.ErrAway
	}
	p.hub.events.put(events...)
	return nil
}

func (p *port) Controls(ctx context.Context) <-chan task.Control { return pour(ctx, &p.controls) }

func (p *port) Beat(_ context.Context, h task.Heartbeat) error {
	if p.hub.outage.on() {
		return queue.ErrAway
	}
	p.hub.heartbeats.put(h)
	return nil
}

func (p *port) Send(_ context.Context, piece task.Piece) error {
	if p.hub.outage.on() {
		return queue.ErrAway
	}
	p.hub.pieces.offer(piece, piecesKept)
	return nil
}

func (p *port) Show(l task.Line) bool {
	l.Worker = p.name
	return !p.hub.outage.on() && p.hub.lines.offer(l, linesKept)
}
