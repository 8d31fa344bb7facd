package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// controlsPrefetch is how many control messages the broker sends ahead.
const controlsPrefetch = 64

// WorkerEndpoint is one worker's end. It is safe for concurrent use.
type WorkerEndpoint struct {
	endpoint *endpoint
	worker   string
	lines    chan task.Line
}

var _ queue.WorkerEndpoint = (*WorkerEndpoint)(nil)

// NewWorkerEndpoint makes the end of one worker. It returns at once and tries to reach the broker
// forever; only wrong options and a name that no worker can have are errors. Close it.
func NewWorkerEndpoint(worker string, o Options) (*WorkerEndpoint, error) {
	if err := rights.CheckWorker(worker); err != nil {
		return nil, err
	}
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	p := &WorkerEndpoint{worker: worker, lines: make(chan task.Line, maxUnsentLines)}
	p.endpoint = newEndpoint(o, at, probe{p.route(rights.Probe), amqp091.Publishing{Expiration: "0"}},
		func(_ *endpoint, c *connection, ch *amqp091.Channel) error {
			return checkWorkerTopology(c, ch, worker)
		})
	p.endpoint.goroutines.Go(func() {
		sendLines(p.endpoint.ctx, &p.endpoint.publisher,
			p.route(rights.Lines), p.lines)
	})
	return p, nil
}

// route is where this worker's messages of one kind go.
func (p *WorkerEndpoint) route(kind rights.MessageKind) route {
	return route{exchange: rights.FromWorkers, key: kind.RoutingKey(p.worker)}
}

// Close ends its connections and streams.
func (p *WorkerEndpoint) Close() { p.endpoint.close() }

// Status returns how the broker is reached now. It never blocks.
func (p *WorkerEndpoint) Status() queue.Status { return p.endpoint.queueStatus() }

// Consume implements queue.WorkerEndpoint.
func (p *WorkerEndpoint) Consume(ctx context.Context) <-chan queue.Delivery[task.Batch] {
	name := rights.TasksQueue(p.worker)
	return openDeliveries(ctx, p.endpoint, &streamSpec[task.Batch]{
		name: name, open: existingQueue(name), prefetch: batchesPrefetch,
		decode: decodeBody(task.DecodeBatch), maxItems: 1,
	})
}

// Controls implements queue.WorkerEndpoint. Of several streams the one that was opened last gets
// the messages: an earlier connection may not yet be dead for the broker.
func (p *WorkerEndpoint) Controls(ctx context.Context) <-chan task.Control {
	name := rights.ControlQueue(p.worker)
	return openTransient(ctx, p.endpoint, &streamSpec[task.Control]{
		name: "control", open: existingQueue(name), prefetch: controlsPrefetch,
		preferNewest: true,
		decode:       decodeBody(task.DecodeControl),
	})
}

// Emit implements queue.WorkerEndpoint. Its errors are ErrUnreachable, but for an event that is too
// long ever to be sent.
func (p *WorkerEndpoint) Emit(ctx context.Context, events ...task.Event) error {
	bodies, err := task.EncodeAll("an event", events, maxEventsBytes,
		maxBytesFrom[rights.Events]-len("[]"))
	if err != nil {
		return err
	}
	return p.endpoint.publisher.publish(ctx, p.route(rights.Events), bodies)
}

// SendHeartbeat implements queue.WorkerEndpoint.
func (p *WorkerEndpoint) SendHeartbeat(_ context.Context, h task.Heartbeat) error {
	body, err := task.Encode("a heartbeat", &h, maxBytesFrom[rights.Heartbeats])
	if err != nil {
		return err
	}
	return p.endpoint.publisher.publishUnconfirmed(p.route(rights.Heartbeats), transient(body))
}

// SendPiece implements queue.WorkerEndpoint.
func (p *WorkerEndpoint) SendPiece(_ context.Context, piece task.Piece) error {
	body, err := task.Encode("a piece of output", &piece, maxBytesFrom[rights.Pieces])
	if err != nil {
		return err
	}
	return p.endpoint.publisher.publishUnconfirmed(p.route(rights.Pieces), transient(body))
}

// OfferLine implements queue.WorkerEndpoint.
func (p *WorkerEndpoint) OfferLine(l task.Line) bool {
	if p.endpoint.publisher.current.Load() == nil {
		return false
	}
	select {
	case p.lines <- l:
		return true
	default:
		return false
	}
}
