package amqp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// deliver opens a stream of deliveries.
func deliver[T any](ctx context.Context, e *end, f *feed[T]) <-chan queue.Delivery[T] {
	out := make(chan queue.Delivery[T])
	e.start(ctx, func(ctx context.Context) {
		defer close(out)
		stream(ctx, e, f, func(ctx context.Context, k *consumer) {
			s := session[T]{end: e, feed: f, consumer: k}
			s.run(ctx, out)
		})
	}, func() { close(out) })
	return out
}

// session is what one consumer got.
type session[T any] struct {
	end      *end
	feed     *feed[T]
	consumer *consumer

	mu   sync.Mutex
	over bool
	open []*parcel // deliveries that are not acknowledged, in their order
}

// parcel is the messages of one delivery: those with the tags from first to last. It is complete when somebody takes it.
type parcel struct{ first, last uint64 }

// mostGathered is how many bytes of messages make a delivery that is large enough, whatever they
// hold.
const mostGathered = 1 << 20

// run delivers until ctx ends or the consumer is gone. While nobody takes a delivery, it gathers what comes.
func (s *session[T]) run(ctx context.Context, out chan<- queue.Delivery[T]) {
	defer s.close()
	var (
		next queue.Delivery[T] // it has items when it can be taken
		p    *parcel           // of next
		size int               // of its messages, in bytes
	)
	for {
		in, offer := s.consumer.in, out
		if len(next.Items) == 0 {
			offer = nil
		} else if len(next.Items) >= s.feed.most || size >= mostGathered {
			in = nil
		}
		select {
		case d, ok := <-in:
			if !ok {
				return
			}
			items, err := s.feed.decode(&d)
			size += len(d.Body)
			if err != nil && !s.bury(ctx, &d, err) {
				return
			}
			switch {
			case p != nil: // one that cannot be read goes along
				p.last = d.DeliveryTag
				next.Items = append(next.Items, items...)
			case len(items) > 0:
				p = &parcel{d.DeliveryTag, d.DeliveryTag}
				next = s.add(p, items)
			default:
				_ = s.consumer.ch.Ack(d.DeliveryTag, false)
				size = 0
			}
		case offer <- next:
			next, p, size = queue.Delivery[T]{}, nil, 0
		case <-s.consumer.gone:
			return
		case <-s.consumer.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *session[T]) add(p *parcel, items []T) queue.Delivery[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, p)
	return queue.Delivery[T]{Items: items, Ack: func() error { return s.ack(p) }}
}

// ack acknowledges a delivery: with one message when everything before it is acknowledged.
func (s *session[T]) ack(p *parcel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.consumer.c.IsClosed() {
		return fmt.Errorf("%w: what was delivered comes again", queue.ErrAway)
	}
	n := slices.Index(s.open, p)
	if n < 0 {
		return nil // it was acknowledged before
	}
	s.open = slices.Delete(s.open, n, n+1)
	if err := s.settle(p, n == 0); err != nil {
		return fmt.Errorf("%w: %w", queue.ErrAway, err)
	}
	return nil
}

func (s *session[T]) settle(p *parcel, oldest bool) error {
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

func (s *session[T]) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// pour opens a stream of messages that may be lost.
func pour[T any](ctx context.Context, e *end, f *feed[T]) <-chan T {
	out := make(chan T)
	e.start(ctx, func(ctx context.Context) {
		defer close(out)
		stream(ctx, e, f, func(ctx context.Context, k *consumer) {
			for {
				select {
				case d, ok := <-k.in:
					if !ok || !pass(ctx, e, f, k, &d, out) {
						return
					}
				case <-k.changed():
					if f.extend(k) != nil { // the next consumer says why
						return
					}
				case <-k.gone:
					return
				case <-k.stop:
					return
				case <-ctx.Done():
					return
				}
			}
		})
	}, func() { close(out) })
	return out
}

// pass hands on what is in one message and acknowledges it; false when the consumer is over.
func pass[T any](ctx context.Context, e *end, f *feed[T], k *consumer, d *amqp091.Delivery, out chan<- T) bool {
	if k.passOver(d) {
		return k.ch.Ack(d.DeliveryTag, false) == nil
	}
	items, err := f.decode(d)
	if err != nil {
		if l, body, keep := e.write(f.name, f.from, d, err); keep {
			// it may be lost
			_ = e.publisher.post(f.aside, amqp091.Publishing{DeliveryMode: amqp091.Persistent,
				Headers: l.headers(), Body: body})
		}
	}
	for _, item := range items {
		select {
		case out <- item:
		case <-k.gone:
			return false
		case <-k.stop:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return k.ch.Ack(d.DeliveryTag, false) == nil
}
