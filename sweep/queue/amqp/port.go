package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
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
	if err := checkWorker(worker); err != nil {
		return nil, err
	}
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	p := &Port{worker: worker, shown: make(chan task.Line, linesWaiting), end: newEnd(o, at, func(ch *amqp091.Channel) error {
		return preparePort(ch, worker)
	})}
	p.end.all.Go(func() { sendLines(p.end.ctx, &p.end.publisher, p.shown) })
	return p, nil
}

func preparePort(ch *amqp091.Channel, worker string) error {
	if err := prepareHub(ch); err != nil {
		return err
	}
	return declareQueue(ch, tasksQueue(worker))
}

// Close ends its connections and streams.
func (p *Port) Close() { p.end.close() }

// Status tells how the broker is reached now. It never blocks.
func (p *Port) Status() queue.Status { return p.end.status() }

// Consume implements queue.Port.
func (p *Port) Consume(ctx context.Context) <-chan queue.Delivery[task.Batch] {
	name := tasksQueue(p.worker)
	return deliver(ctx, p.end, &feed[task.Batch]{
		name: name, open: staying(name), prefetch: batchesAhead, decode: bodies(decodeBatch), most: 1, keep: true,
	})
}

// Controls implements queue.Port.
func (p *Port) Controls(ctx context.Context) <-chan task.Control {
	return pour(ctx, p.end, &feed[task.Control]{
		name: "control", open: passing("control."+p.worker+".", controlOut, p.worker), prefetch: controlsAhead, decode: bodies(decodeControl),
	})
}

// Emit implements queue.Port. Its errors are ErrAway, but for an event that is too long ever to be sent.
func (p *Port) Emit(ctx context.Context, events ...task.Event) error {
	bodies, err := encodeAll("an event", events, mostEventBytes)
	if err != nil {
		return err
	}
	return p.end.publisher.send(ctx, eventsQueue, bodies)
}

// Beat implements queue.Port.
func (p *Port) Beat(_ context.Context, h task.Heartbeat) error {
	body, err := encode("a heartbeat", &h)
	if err != nil {
		return err
	}
	return p.end.publisher.post("", beatsQueue, brief(body))
}

// Send implements queue.Port.
func (p *Port) Send(_ context.Context, piece task.Piece) error {
	body, err := encode("a piece of output", &piece)
	if err != nil {
		return err
	}
	return p.end.publisher.post(piecesOut, "", brief(body))
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
