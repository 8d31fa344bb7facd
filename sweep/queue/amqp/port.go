package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// controlsAhead is how many control messages the broker sends ahead.
const controlsAhead = 64

// Port is one worker's end. It is safe for concurrent use.
type Port struct {
	end    *end
	worker string
	shown  chan task.Line
}

var _ queue.Port = (*Port)(nil)

// NewPort makes the end of one worker. It returns at once and tries to reach the broker for ever; only wrong options and
// a name that no worker can have are errors. Close it.
func NewPort(worker string, o Options) (*Port, error) {
	if err := rights.CheckWorker(worker); err != nil {
		return nil, err
	}
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	p := &Port{worker: worker, shown: make(chan task.Line, linesWaiting)}
	p.end = newEnd(o, at, p.route(rights.Probe), func(c *connection, ch *amqp091.Channel) error {
		return prepareWorker(c, ch, worker)
	})
	p.end.all.Go(func() { sendLines(p.end.ctx, &p.end.publisher, p.route(rights.Lines), p.shown) })
	return p, nil
}

// route is where this worker's messages of one kind go.
func (p *Port) route(kind rights.Kind) route {
	return route{exchange: rights.FromWorkers, key: kind.Key(p.worker)}
}

// Close ends its connections and streams.
func (p *Port) Close() { p.end.close() }

// Status tells how the broker is reached now. It never blocks.
func (p *Port) Status() queue.Status { return p.end.status() }

// Consume implements queue.Port.
func (p *Port) Consume(ctx context.Context) <-chan queue.Delivery[task.Batch] {
	name := rights.TasksQueue(p.worker)
	return deliver(ctx, p.end, &feed[task.Batch]{
		name: name, open: madeByMaster(name), prefetch: batchesAhead,
		decode: bodies(task.DecodeBatch), most: 1,
		report: p.route(rights.Dead), queue: name,
	})
}

// Controls implements queue.Port. Of several streams the one that was opened last gets the messages: an earlier connection
// may not yet be dead for the broker.
func (p *Port) Controls(ctx context.Context) <-chan task.Control {
	name := rights.ControlQueue(p.worker)
	return pour(ctx, p.end, &feed[task.Control]{
		name: "control", open: madeByMaster(name), prefetch: controlsAhead,
		newestFirst: true,
		decode:      bodies(task.DecodeControl),
		report:      p.route(rights.Dead), queue: name,
	})
}

// Emit implements queue.Port. Its errors are ErrAway, but for an event that is too long ever to be sent.
func (p *Port) Emit(ctx context.Context, events ...task.Event) error {
	bodies, err := task.EncodeAll("an event", events, mostEventBytes,
		mostFrom[rights.Events]-len("[]"))
	if err != nil {
		return err
	}
	return p.end.publisher.send(ctx, p.route(rights.Events), bodies)
}

// Beat implements queue.Port.
func (p *Port) Beat(_ context.Context, h task.Heartbeat) error {
	body, err := task.Encode("a heartbeat", &h, mostFrom[rights.Heartbeats])
	if err != nil {
		return err
	}
	return p.end.publisher.post(p.route(rights.Heartbeats), brief(body))
}

// Send implements queue.Port.
func (p *Port) Send(_ context.Context, piece task.Piece) error {
	body, err := task.Encode("a piece of output", &piece, mostFrom[rights.Pieces])
	if err != nil {
		return err
	}
	return p.end.publisher.post(p.route(rights.Pieces), brief(body))
}

// Show implements queue.Port.
func (p *Port) Show(l task.Line) bool {
	if p.end.publisher.current.Load() == nil {
		return false
	}
	select {
	case p.shown <- l:
		return true
	default:
		return false
	}
}
