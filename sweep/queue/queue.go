// Package queue is the contract between a master and its workers: tasks and control messages go
// out, events, heartbeats and live output come back.
//
// queue/memory keeps it within one process; queue/queuetest is the suite that every implementation
// passes. The package decides nothing: placement is the master's, transitions are the ledger's. The
// master, the worker, the implementations and the commands may import it; it imports sweep/task
// only.
//
// Tasks are claimed, not held: a worker emits claimed events for every attempt of a delivery and
// then acknowledges the delivery at once, so that no clock of a broker runs against an attempt. A
// worker that dies in between gets the delivery again, and the master fences what began twice.
//
// # Streams
//
// A method that returns a channel opens a stream. It lasts until its context ends and outlives
// outages: what could not be acknowledged because of one comes again on the same channel. The
// channel is closed when the context ends, also when nobody reads it. Another stream of the same
// kind may be opened before the first has ended (a worker that comes back before its old connection
// is known to be dead): what is delivered is then shared between them.
//
// # Versions
//
// What is of another version than this program reads is delivered, too, so that its receiver
// refuses it in words. Only the fields that the versions in package task name may be relied on
// then.
package queue

import (
	"context"
	"errors"
	"time"

	"mlframework/sweep/task"
)

// ErrUnreachable says that the queue cannot be reached now. What was asked did not happen, or it is
// not known whether it did; it may be tried again.
var ErrUnreachable = errors.New("the queue cannot be reached")

// MasterEndpoint is the master's end. Its methods may be called concurrently.
type MasterEndpoint interface {
	// Publish sends batches to one worker, in order. They wait for a worker that is not there. When
	// it returns nil they are durable. On an error it is not known which are: publishing the same
	// attempts again is allowed, workers take the first. A batch that is too long for a message
	// comes as several, in order. An attempt that is too long for one is never sent, and an error
	// that is not ErrUnreachable; all others of the batches are sent.
	Publish(ctx context.Context, worker string, batches ...task.Batch) error
	// Events delivers what workers emit, in order for each worker, and each at least once. As with
	// all streams, what cannot be read is left out, and counted (Status).
	Events(ctx context.Context) <-chan Delivery[task.Event]
	// SendControl sends one message to one worker. When the worker is away it may be lost, or
	// arrive when it returns: a message asks for something that may be asked twice, and the master
	// repeats it when the worker returns.
	SendControl(ctx context.Context, worker string, c task.Control) error
	// Heartbeats delivers what workers say of themselves; they may be lost, and come twice when a
	// worker is heard first.
	Heartbeats(ctx context.Context) <-chan task.Heartbeat
	// Pieces delivers workers' answers to ReadControl and MeasureControl; they may be lost.
	Pieces(ctx context.Context) <-chan task.Piece
	// RemoveWorker drops a worker's queue with everything that waits in it. It is not an error if
	// there is none.
	RemoveWorker(ctx context.Context, worker string) error
	// Status returns how the queue is reached now. It never blocks.
	Status() Status
	// Lines delivers live output, in order for each worker. It is bounded: when the master is slow,
	// lines are lost, and the next line of their stream says how many. Without a stream open, and
	// in an outage, they may be lost unsaid.
	Lines(ctx context.Context) <-chan task.Line
	// Depths returns how much waits in the queues: of the workers, in the order given, then of the
	// others. A queue that does not exist is left out.
	Depths(ctx context.Context, workers ...string) ([]Depth, error)
}

// WorkerEndpoint is one worker's end. Its methods may be called concurrently.
type WorkerEndpoint interface {
	// Consume delivers batches in the order of their publishing, one to a delivery, each at least
	// once.
	Consume(ctx context.Context) <-chan Delivery[task.Batch]
	// Emit sends events, in order. When it returns nil they are durable; on an error they may be
	// sent again.
	Emit(ctx context.Context, events ...task.Event) error
	// Controls delivers the master's messages.
	Controls(ctx context.Context) <-chan task.Control
	// SendHeartbeat sends a heartbeat.
	SendHeartbeat(ctx context.Context, h task.Heartbeat) error
	// SendPiece answers a ReadControl or a MeasureControl. The answer may be lost, as when nobody
	// waits for it.
	SendPiece(ctx context.Context, p task.Piece) error
	// OfferLine offers a line of live output and reports whether it was taken; the caller counts
	// those that were not, in the next line's Missed. It never blocks.
	OfferLine(l task.Line) bool
}

// MaxTaskBytes is how long a batch with one attempt may be, in bytes of JSON, for every queue to
// send it.
const MaxTaskBytes = 2 << 20

// Status is how a queue is reached.
type Status struct {
	Unreachable bool
	Since       time.Time // when it was reached or went away
	Reason      string    // why it is away, for people: cause and remedy
	// it is reached but takes nothing for now, and why (a broker short of memory or disk); "": it
	// does
	Blocked string
	Program string // name and version of the broker; "": not known, or there is none
	// messages that could not be read, or were not from whom they named, since the start
	Refused int64
}

// Delivery is items that arrive together. Ack must be called once, when they are taken care of.
// When it returns nil they never come again. It fails with ErrUnreachable when the stream has ended
// or an outage came in between; then they come again, in their order and before what was sent after
// the outage. What was on its way in the outage may come before and after.
type Delivery[T any] struct {
	Items []T
	Ack   func() error
}
