package amqp

import (
	"context"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// Messages that the broker sends ahead, for each stream. Batches are claimed at once, so few are enough; pieces are long.
const (
	batchesAhead = 64
	eventsAhead  = 256
	beatsAhead   = 64
	piecesAhead  = 8
	linesAhead   = 8
	mostEvents   = 4096
)

// Hub is the master's end. It is safe for concurrent use.
type Hub struct {
	end  *end
	dead sync.Mutex // one at a time looks through the dead letters

	metrics string // "" where there are none
}

var _ queue.Hub = (*Hub)(nil)

// NewHub makes the master's end. It returns at once and tries to reach the broker for ever; only wrong options are an
// error. Close it.
func NewHub(o Options) (*Hub, error) {
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	return &Hub{end: newEnd(o, at, prepareHub), metrics: o.Metrics}, nil
}

func prepareHub(ch *amqp091.Channel) error {
	if err := declareExchanges(ch); err != nil {
		return err
	}
	for _, name := range []string{eventsQueue, beatsQueue, deadQueue} {
		if err := declareQueue(ch, name); err != nil {
			return err
		}
	}
	return nil
}

// Close ends its connections and streams.
func (h *Hub) Close() { h.end.close() }

// Status implements queue.Hub.
func (h *Hub) Status() queue.Status { return h.end.status() }

// Publish implements queue.Hub. Its errors are ErrAway, but for a worker's name or a batch that can never be sent.
func (h *Hub) Publish(ctx context.Context, worker string, batches ...task.Batch) error {
	if err := checkWorker(worker); err != nil {
		return err
	}
	bodies := make([][]byte, len(batches))
	for i := range batches {
		var err error
		if bodies[i], err = encode("a batch of "+batches[i].Sweep, &batches[i]); err != nil {
			return err
		}
	}
	return h.end.publisher.send(ctx, tasksQueue(worker), bodies)
}

// Remove implements queue.Hub.
func (h *Hub) Remove(ctx context.Context, worker string) error {
	if err := checkWorker(worker); err != nil {
		return err
	}
	name := tasksQueue(worker)
	return h.end.publisher.ask(ctx, &request{queue: name, do: func(ch *amqp091.Channel) error {
		_, err := ch.QueueDelete(name, false, false, false)
		return err
	}})
}

// Control implements queue.Hub. A message to a worker that is away is lost.
func (h *Hub) Control(_ context.Context, worker string, c task.Control) error {
	if err := checkWorker(worker); err != nil {
		return err
	}
	body, err := encode("a control message", &c)
	if err != nil {
		return err
	}
	return h.end.publisher.post(controlOut, worker, amqp091.Publishing{Body: body})
}

// Events implements queue.Hub.
func (h *Hub) Events(ctx context.Context) <-chan queue.Delivery[task.Event] {
	return deliver(ctx, h.end, &feed[task.Event]{
		name: eventsQueue, open: staying(eventsQueue), prefetch: eventsAhead, decode: bodies(decodeEvents), most: mostEvents, keep: true,
	})
}

// Heartbeats implements queue.Hub.
func (h *Hub) Heartbeats(ctx context.Context) <-chan task.Heartbeat {
	return pour(ctx, h.end, &feed[task.Heartbeat]{
		name: beatsQueue, open: staying(beatsQueue), prefetch: beatsAhead, decode: bodies(decodeBeat),
	})
}

// Pieces implements queue.Hub.
func (h *Hub) Pieces(ctx context.Context) <-chan task.Piece {
	return pour(ctx, h.end, &feed[task.Piece]{
		name: "pieces", open: passing("pieces.", piecesOut, ""), prefetch: piecesAhead, decode: bodies(decodePiece),
	})
}

// Lines implements queue.Hub.
func (h *Hub) Lines(ctx context.Context) <-chan task.Line {
	return pour(ctx, h.end, &feed[task.Line]{name: "lines", open: linesQueue, prefetch: linesAhead, decode: unrepeated()})
}
