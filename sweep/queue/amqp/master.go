package amqp

import (
	"cmp"
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Messages that the broker sends ahead, for each stream: they are all in memory, and each has up to
// rights.MaxMessageBytes. Batches are claimed at once, so few are enough; pieces are long.
const (
	batchesPrefetch    = 64
	eventsPrefetch     = 64
	heartbeatsPrefetch = 16
	piecesPrefetch     = 8
	linesPrefetch      = 8
	maxEvents          = 4096
)

// What a worker's queue of a connection of the master holds: of heartbeats the newest count, and
// pieces are answers to what was asked a moment ago.
var (
	heartbeatsLimits = amqp091.Table{"x-max-length": int64(4), "x-max-length-bytes": int64(2 << 20),
		"x-overflow": "drop-head"}
	piecesLimits = amqp091.Table{"x-max-length-bytes": int64(8 << 20), "x-overflow": "drop-head"}
)

// MasterEndpoint is the master's end. It is safe for concurrent use.
type MasterEndpoint struct {
	endpoint     *endpoint
	workerStates workerStates
	workers      workerSet // that were heard
	lock         masterLock

	metrics string // "" where there are none
}

var _ queue.MasterEndpoint = (*MasterEndpoint)(nil)

// NewMasterEndpoint makes the master's end. It returns at once and tries to reach the broker for
// ever; only wrong options are an error. Close it.
func NewMasterEndpoint(o Options) (*MasterEndpoint, error) {
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	h := &MasterEndpoint{metrics: o.Metrics,
		lock: masterLock{own: o.Holder, refused: make(chan error, 1)}}
	h.endpoint = newEndpoint(o, at, probe{queueRoute(rights.MasterHolder),
		transient([]byte(o.Holder))}, h.prepare)
	return h, nil
}

// prepare takes the lock of the broker and declares what the master needs. While another master
// holds the lock, nothing is consumed either.
func (h *MasterEndpoint) prepare(e *endpoint, c *connection, ch *amqp091.Channel) error {
	if err := h.lock.take(c, ch); err != nil {
		consuming, _ := e.conn.get()
		if h.lock.held.Swap(false) && consuming != nil {
			consuming.socket.Close()
		}
		return err
	}
	err := declareMasterTopology(ch)
	h.lock.held.Store(err == nil)
	return err
}

// Refused receives one error once another master has held the broker's lock for so long that it
// must be alive. This endpoint is of no use then and should be closed.
func (h *MasterEndpoint) Refused() <-chan error { return h.lock.refused }

// ensureQueue opens a queue that outlives its consumers, and makes it where it was deleted. Until
// prepare has made it nobody else does, so that workers find no way there before.
func (h *MasterEndpoint) ensureQueue(name string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, connection string) (string, error) {
		if !h.lock.held.Load() {
			return "", errNoLock
		}
		if h.endpoint.publisher.current.Load() == nil {
			return existingQueue(name)(ch, connection)
		}
		return name, declareMasterTopology(ch)
	}
}

// Close ends its connections and streams.
func (h *MasterEndpoint) Close() { h.endpoint.close() }

// Status implements queue.MasterEndpoint.
func (h *MasterEndpoint) Status() queue.Status { return h.endpoint.queueStatus() }

// Publish implements queue.MasterEndpoint. Its errors are ErrUnreachable, but for a worker's name
// or an attempt that can never be sent.
func (h *MasterEndpoint) Publish(ctx context.Context, worker string, batches ...task.Batch) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	bodies := make([][]byte, 0, len(batches))
	var tooLong error
	for i := range batches {
		some, err := task.EncodeBatch(&batches[i], maxSentBytes)
		bodies, tooLong = append(bodies, some...), cmp.Or(tooLong, err)
	}
	err := h.endpoint.publisher.publish(ctx, queueRoute(rights.TasksQueue(worker)), bodies)
	return cmp.Or(err, tooLong)
}

// RemoveWorker implements queue.MasterEndpoint.
func (h *MasterEndpoint) RemoveWorker(ctx context.Context, worker string) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	defer h.workerStates.forget(worker)
	defer h.workers.set(worker, false)
	name := rights.TasksQueue(worker)
	return h.endpoint.publisher.submit(ctx, &request{to: queueRoute(name),
		do: func(ch *amqp091.Channel) error {
			if _, err := ch.QueueDelete(name, false, false, false); err != nil {
				return err
			}
			_, err := ch.QueueDelete(rights.ControlQueue(worker), false, false, false)
			return err
		}})
}

// SendControl implements queue.MasterEndpoint. A message to a worker that is away for longer than
// transientTTL is lost.
func (h *MasterEndpoint) SendControl(_ context.Context, worker string, c task.Control) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	body, err := task.Encode("a control message", &c, maxSentBytes)
	if err != nil {
		return err
	}
	return h.endpoint.publisher.publishUnconfirmed(queueRoute(rights.ControlQueue(worker)),
		transient(body))
}

// Events implements queue.MasterEndpoint.
func (h *MasterEndpoint) Events(ctx context.Context) <-chan queue.Delivery[task.Event] {
	return openDeliveries(ctx, h.endpoint, &streamSpec[task.Event]{
		name: "events", open: h.ensureQueue(rights.EventsQueue), prefetch: eventsPrefetch,
		maxItems: maxEvents,
		decode:   decodeFromWorker(rights.Events, task.DecodeEvents, (*task.Event).Check),
	})
}

// Heartbeats implements queue.MasterEndpoint. The queues of a worker that sends one are made, so
// that it can be sent something, and so that it is heard apart from all others from then on. What
// its own queue of heartbeats gets is also in the common one, where it is passed over.
func (h *MasterEndpoint) Heartbeats(ctx context.Context) <-chan task.Heartbeat {
	return openTransient(ctx, h.endpoint, &streamSpec[task.Heartbeat]{
		name: "heartbeats", open: h.ensureQueue(rights.HeartbeatsQueue),
		prefetch:    heartbeatsPrefetch,
		workerQueue: workerQueueOf(rights.HeartbeatsPrefix, rights.Heartbeats, heartbeatsLimits),
		workers:     &h.workers,
		sendMarker:  h.sendMarker,
		decode: decodeFromWorker(rights.Heartbeats, task.DecodeHeartbeat,
			h.checkHeartbeat),
	})
}

// checkHeartbeat lets a heartbeat through, and makes the queues of its worker.
func (h *MasterEndpoint) checkHeartbeat(b *task.Heartbeat, worker string) error {
	err := b.Check(worker)
	if err == nil {
		h.declareWorkerQueues(b.Worker)
	}
	return err
}

// sendMarker puts a mark into the common queue of heartbeats. It may be lost.
func (h *MasterEndpoint) sendMarker(id string) {
	m := transient(nil)
	m.Headers = amqp091.Table{markerHeader: id}
	_ = h.endpoint.publisher.publishUnconfirmed(queueRoute(rights.HeartbeatsQueue), m)
}

// Pieces implements queue.MasterEndpoint.
func (h *MasterEndpoint) Pieces(ctx context.Context) <-chan task.Piece {
	return openTransient(ctx, h.endpoint, &streamSpec[task.Piece]{
		name: "pieces", open: unboundQueue(rights.PiecesPrefix), prefetch: piecesPrefetch,
		workerQueue: workerQueueOf(rights.PiecesPrefix, rights.Pieces, piecesLimits),
		workers:     &h.workers,
		decode:      decodeFromWorker(rights.Pieces, task.DecodePiece, (*task.Piece).Check),
	})
}

// Lines implements queue.MasterEndpoint.
func (h *MasterEndpoint) Lines(ctx context.Context) <-chan task.Line {
	return openTransient(ctx, h.endpoint, &streamSpec[task.Line]{
		name: "lines", open: unboundQueue(rights.LinesPrefix), prefetch: linesPrefetch,
		workerQueue: workerQueueOf(rights.LinesPrefix, rights.Lines, linesLimits),
		workers:     &h.workers,
		decode: withoutRepeats(decodeFromWorker(rights.Lines, task.DecodeLines,
			checkLine)),
	})
}
