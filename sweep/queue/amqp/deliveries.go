package amqp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"mlframework/sweep/queue"
)

// openDeliveries opens a stream of deliveries.
func openDeliveries[T any](ctx context.Context, e *endpoint,
	f *streamSpec[T]) <-chan queue.Delivery[T] {
	out := make(chan queue.Delivery[T])
	e.start(ctx, func(ctx context.Context) {
		defer close(out)
		runStream(ctx, e, f, func(ctx context.Context, k *consumer) {
			s := deliverySession[T]{endpoint: e, spec: f, consumer: k}
			s.run(ctx, out)
		})
	}, func() { close(out) })
	return out
}

// deliverySession is what one consumer got.
type deliverySession[T any] struct {
	endpoint *endpoint
	spec     *streamSpec[T]
	consumer *consumer

	mu      sync.Mutex
	closed  bool
	unacked []*tagRange // deliveries that are not acknowledged, in their order
}

// tagRange is the messages of one delivery: those with the tags from first to last. It is complete
// when somebody takes it.
type tagRange struct{ first, last uint64 }

// maxDeliveryBytes is how many bytes of messages make a delivery that is large enough, whatever
// they hold.
const maxDeliveryBytes = 1 << 20

// run delivers until ctx ends or the consumer is gone. While nobody takes a delivery, it gathers
// what comes.
func (s *deliverySession[T]) run(ctx context.Context, out chan<- queue.Delivery[T]) {
	defer s.close()
	var (
		next queue.Delivery[T]
		p    *tagRange // of next; nil: there is nothing to be taken
		size int       // of its messages, in bytes
	)
	for {
		in, offer := s.consumer.in, out
		if p == nil {
			offer = nil
		} else if len(next.Items) >= s.spec.maxItems || size >= maxDeliveryBytes {
			in = nil
		}
		select {
		case d, ok := <-in:
			if !ok {
				return
			}
			items, err := s.spec.decode(&d)
			if err != nil {
				s.endpoint.refuse(s.spec.name, &d, err)
			}
			size += len(d.Body)
			switch {
			case p != nil:
				p.last = d.DeliveryTag
			case len(items) > 0:
				p = &tagRange{d.DeliveryTag, d.DeliveryTag}
				next = s.add(p)
			default:
				_ = s.consumer.ch.Ack(d.DeliveryTag, false)
				size = 0
			}
			next.Items = append(next.Items, items...)
		case offer <- next:
			next, p, size = queue.Delivery[T]{}, nil, 0
		case <-s.consumer.closed:
			return
		case <-s.consumer.cancelled:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *deliverySession[T]) add(p *tagRange) queue.Delivery[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unacked = append(s.unacked, p)
	return queue.Delivery[T]{Ack: func() error { return s.ack(p) }}
}

// ack acknowledges a delivery: with one message when everything before it is acknowledged.
func (s *deliverySession[T]) ack(p *tagRange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.consumer.conn.IsClosed() {
		return fmt.Errorf("%w: what was delivered comes again", queue.ErrUnreachable)
	}
	n := slices.Index(s.unacked, p)
	if n < 0 {
		return nil // it was acknowledged before
	}
	s.unacked = slices.Delete(s.unacked, n, n+1)
	if err := s.ackTags(p, n == 0); err != nil {
		return fmt.Errorf("%w: %w", queue.ErrUnreachable, err)
	}
	return nil
}

func (s *deliverySession[T]) ackTags(p *tagRange, oldest bool) error {
	if oldest {
		return s.consumer.ch.Ack(p.last, p.first < p.last)
	}
	for tag := p.first; tag <= p.last; tag++ {
		if err := s.consumer.ch.Ack(tag, false); err != nil {
			return err
		}
	}
	return nil
}

func (s *deliverySession[T]) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
