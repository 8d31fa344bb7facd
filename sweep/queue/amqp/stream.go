package amqp

import (
	"context"
	"errors"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// streamSpec is what a stream reads: where from, and how its messages become items.
type streamSpec[T any] struct {
	name string
	// declares the queue
	open     func(ch *amqp091.Channel, connection string) (queue string, err error)
	prefetch int
	// preferNewest has the consumer that came last get all messages, as long as it takes them.
	// It is opened again every renewInterval, so that of two processes that live each gets some.
	preferNewest bool
	decode       func(*amqp091.Delivery) ([]T, error)
	maxItems     int // items that are enough for one delivery
	// workerQueue, of a stream that may lose messages, declares a queue for one of the workers: a
	// worker fills its own only. It is consumed for each that is known, beside that of open.
	workerQueue func(ch *amqp091.Channel, connection, worker string) (queue string, err error)
	workers     *workerSet
	sendMarker  func(id string) // puts a mark into the queue of open; nil: nothing comes there
}

// decodeBody reads messages of the master, of which only the body counts.
func decodeBody[T any](decode func(body []byte, most int) ([]T, error),
) func(*amqp091.Delivery) ([]T, error) {
	return func(d *amqp091.Delivery) ([]T, error) { return decode(d.Body, maxSentBytes) }
}

// runStream consumes a stream on one connection after the other, until ctx ends. Serve works with a
// consumer until it is over.
func runStream[T any](ctx context.Context, e *endpoint, f *streamSpec[T],
	serve func(ctx context.Context, k *consumer)) {
	defer e.status.forget(f.name)
	var p backoff
	for ctx.Err() == nil {
		c := e.conn.wait(ctx)
		if c == nil {
			return
		}
		release := closeIfUnresponsive(ctx, c)
		slow := time.AfterFunc(confirmTimeout,
			func() { e.status.failed(f.name, explain(e.address, errConsumeTimeout, nil)) })
		k, err := f.consume(c)
		slow.Stop()
		if err == nil {
			e.status.works(f.name)
			p = backoff{}
			still := watchConsumer(c, k)
			f.serveUntilRenewal(ctx, k, serve)
			k.close()
			still()
		}
		release()
		if err == nil {
			p.wait(ctx) // the queue was deleted, or the connection has ended
			continue
		}
		if !errors.Is(err, amqp091.ErrClosed) && !errors.Is(err, errNoLock) && !c.IsClosed() {
			e.status.failed(f.name, explain(e.address, err, nil))
		}
		p.wait(ctx)
	}
}

// renewInterval is for how long a consumer that came last gets all messages, if another one lives.
const renewInterval = 30 * time.Second

// serveUntilRenewal works with a consumer until it is over, or to be renewed.
func (f *streamSpec[T]) serveUntilRenewal(ctx context.Context, k *consumer,
	serve func(context.Context, *consumer)) {
	if f.preferNewest {
		renewed, cancel := context.WithTimeout(ctx, renewInterval)
		defer cancel()
		ctx = renewed
	}
	serve(ctx, k)
}
