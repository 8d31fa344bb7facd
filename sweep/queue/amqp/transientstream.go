package amqp

import (
	"context"
	"strconv"

	"github.com/rabbitmq/amqp091-go"
)

// openTransient opens a stream of messages that may be lost.
func openTransient[T any](ctx context.Context, e *endpoint, f *streamSpec[T]) <-chan T {
	out := make(chan T)
	e.start(ctx, func(ctx context.Context) {
		defer close(out)
		runStream(ctx, e, f, func(ctx context.Context, k *consumer) {
			for {
				select {
				case d, ok := <-k.in:
					if !ok || !forwardTransient(ctx, e, f, k, &d, out) {
						return
					}
				case <-k.workersChanged():
					if f.consumeWorkers(k) != nil { // the next consumer says why
						return
					}
				case <-k.closed:
					return
				case <-k.cancelled:
					return
				case <-ctx.Done():
					return
				}
			}
		})
	}, func() { close(out) })
	return out
}

// forwardTransient hands on what is in one message and acknowledges it; false when the consumer is
// over.
func forwardTransient[T any](ctx context.Context, e *endpoint, f *streamSpec[T], k *consumer,
	d *amqp091.Delivery, out chan<- T) bool {
	if k.isDuplicate(d) {
		return k.ch.Ack(d.DeliveryTag, false) == nil
	}
	items, err := f.decode(d)
	if err != nil {
		e.refuse(f.name, d, err)
	}
	for _, item := range items {
		select {
		case out <- item:
		case <-k.closed:
			return false
		case <-k.cancelled:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return k.ch.Ack(d.DeliveryTag, false) == nil
}

// transientExpiration is transientTTL as messages carry it.
var transientExpiration = strconv.FormatInt(transientTTL.Milliseconds(), 10)

// transient is a message that is of use only now.
func transient(body []byte) amqp091.Publishing {
	return amqp091.Publishing{DeliveryMode: amqp091.Transient, Expiration: transientExpiration,
		Body: body}
}
