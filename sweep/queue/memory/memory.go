// Package memory is the queue within one process: what --local runs on, and the fake of tests. It
// keeps the contract of package queue, but that nothing outlives the process.
//
// cmd/run-tasks and the tests of sweep may import it. It imports the contract and sweep/task only.
package memory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// maxLines bounds live output that the master did not take yet.
const maxLines = 1024

// maxPieces bounds answers that the master did not take yet; they are up to task.MaxPieceBytes
// long.
const maxPieces = 64

// Queue is the master's end and makes those of the workers. The zero value is an empty queue. It is
// safe for concurrent use, and must not be copied.
type Queue struct {
	encodes    bool
	outage     outage
	events     fifo[task.Event]
	heartbeats fifo[task.Heartbeat]
	lines      fifo[task.Line]
	pieces     fifo[task.Piece]
	refused    atomic.Int64 // messages that could not be read

	mu        sync.Mutex
	endpoints map[string]*workerEndpoint
}

var _ queue.MasterEndpoint = (*Queue)(nil)

// New makes an empty queue. What is sent comes as it is: to encode and decode it takes 2 % more of
// the processor in a local run of 3,000 tasks that do nothing, and it is not needed there.
func New() *Queue { return &Queue{} }

// NewEncoding makes an empty queue whose messages are encoded and read on their way as they are
// over a broker, by the same functions, so that tests see what travels. Events that cannot be read
// are refused, as there; anything else is an error of its sender.
func NewEncoding() *Queue { return &Queue{encodes: true} }

// Outage makes the queue unreachable for everybody, or reachable again. What it holds is kept.
func (q *Queue) Outage(on bool) { q.outage.set(on) }

// Purge drops the batches that wait for a worker, as a person with a broker's tools might, and
// returns how many there were.
func (q *Queue) Purge(worker string) int { return q.endpoint(worker).tasks.purge() }

// Worker returns the endpoint of a worker.
func (q *Queue) Worker(worker string) queue.WorkerEndpoint { return q.endpoint(worker) }

func (q *Queue) endpoint(worker string) *workerEndpoint {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.endpoints[worker]
	if p == nil {
		p = &workerEndpoint{name: worker, queue: q}
		if q.endpoints == nil {
			q.endpoints = map[string]*workerEndpoint{}
		}
		q.endpoints[worker] = p
	}
	p.removed = false
	return p
}

// Publish implements queue.MasterEndpoint.
func (q *Queue) Publish(_ context.Context, worker string, batches ...task.Batch) error {
	if q.outage.on() {
		return queue.ErrUnreachable
	}
	to := q.endpoint(worker)
	var tooLong error
	for i := range batches {
		tooLong = cmp.Or(tooLong, q.sendBatch(to, &batches[i]))
	}
	return tooLong
}

// Events implements queue.MasterEndpoint.
func (q *Queue) Events(ctx context.Context) <-chan queue.Delivery[task.Event] {
	return openDeliveries(ctx, &q.events, math.MaxInt, &q.outage)
}

// SendControl implements queue.MasterEndpoint. A message to a worker that is away waits for it.
func (q *Queue) SendControl(_ context.Context, worker string, c task.Control) error {
	if q.outage.on() {
		return queue.ErrUnreachable
	}
	c, err := passed(q, "a control message", c, func(body []byte) ([]task.Control, error) {
		return task.DecodeControl(body, maxBytes)
	})
	if err == nil {
		q.endpoint(worker).controls.put(c)
	}
	return err
}

// Heartbeats implements queue.MasterEndpoint.
func (q *Queue) Heartbeats(ctx context.Context) <-chan task.Heartbeat {
	return openTransient(ctx, &q.heartbeats)
}

// Lines implements queue.MasterEndpoint.
func (q *Queue) Lines(ctx context.Context) <-chan task.Line { return openTransient(ctx, &q.lines) }

// Pieces implements queue.MasterEndpoint.
func (q *Queue) Pieces(ctx context.Context) <-chan task.Piece {
	return openTransient(ctx, &q.pieces)
}

// RemoveWorker implements queue.MasterEndpoint.
func (q *Queue) RemoveWorker(_ context.Context, worker string) error {
	if q.outage.on() {
		return queue.ErrUnreachable
	}
	p := q.endpoint(worker)
	p.tasks.purge()
	q.mu.Lock()
	defer q.mu.Unlock()
	p.removed = true
	return nil
}

// Status implements queue.MasterEndpoint.
func (q *Queue) Status() queue.Status {
	on, since := q.outage.status()
	s := queue.Status{Unreachable: on, Since: since, Refused: q.refused.Load()}
	if on {
		s.Reason = "an outage was switched on"
	}
	return s
}

// workerEndpoint is one worker's end.
type workerEndpoint struct {
	name     string
	queue    *Queue
	removed  bool // and not used since; under the lock of the queue
	tasks    fifo[task.Batch]
	controls fifo[task.Control]
}

func (p *workerEndpoint) Consume(ctx context.Context) <-chan queue.Delivery[task.Batch] {
	return openDeliveries(ctx, &p.tasks, 1, &p.queue.outage)
}

func (p *workerEndpoint) Emit(_ context.Context, events ...task.Event) error {
	if p.queue.outage.on() {
		return queue.ErrUnreachable
	}
	return p.queue.sendEvents(p.name, events)
}

func (p *workerEndpoint) Controls(ctx context.Context) <-chan task.Control {
	return openTransient(ctx, &p.controls)
}

func (p *workerEndpoint) SendHeartbeat(_ context.Context, h task.Heartbeat) error {
	if p.queue.outage.on() {
		return queue.ErrUnreachable
	}
	h, err := passed(p.queue, "a heartbeat", h, func(body []byte) ([]task.Heartbeat, error) {
		return task.DecodeHeartbeat(body, func(h *task.Heartbeat) error { return h.Check(p.name) })
	})
	if err == nil {
		p.queue.heartbeats.put(h)
	}
	return err
}

func (p *workerEndpoint) SendPiece(_ context.Context, piece task.Piece) error {
	if p.queue.outage.on() {
		return queue.ErrUnreachable
	}
	piece, err := passed(p.queue, "a piece of output", piece,
		func(body []byte) ([]task.Piece, error) {
			return task.DecodePiece(body, func(c *task.Piece) error { return c.Check(p.name) })
		})
	if err == nil {
		p.queue.pieces.offer(piece, maxPieces)
	}
	return err
}

func (p *workerEndpoint) OfferLine(l task.Line) bool {
	l, err := passed(p.queue, "a line", l, func(body []byte) ([]task.Line, error) {
		return task.DecodeLines(slices.Concat([]byte("["), body, []byte("]")), (*task.Line).Check)
	})
	l.Worker = p.name // it is not in what travels
	return err == nil && !p.queue.outage.on() && p.queue.lines.offer(l, maxLines)
}
