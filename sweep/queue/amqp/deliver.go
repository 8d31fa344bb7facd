package amqp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
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
		next queue.Delivery[T]
		p    *parcel // of next; nil: there is nothing to be taken
		size int     // of its messages, in bytes
	)
	for {
		in, offer := s.consumer.in, out
		if p == nil {
			offer = nil
		} else if len(next.Items) >= s.feed.most || size >= mostGathered {
			in = nil
		}
		select {
		case d, ok := <-in:
			if !ok {
				return
			}
			items, unreadable, ok := s.read(ctx, &d)
			if !ok {
				return
			}
			size += len(d.Body)
			switch {
			case p != nil:
				p.last = d.DeliveryTag
			case len(items)+len(unreadable) > 0:
				p = &parcel{d.DeliveryTag, d.DeliveryTag}
				next = s.add(p)
			default:
				_ = s.consumer.ch.Ack(d.DeliveryTag, false)
				size = 0
			}
			next.Items = append(next.Items, items...)
			next.Unreadable = append(next.Unreadable, unreadable...)
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

// read decodes a message. One that cannot be read becomes a dead letter, or is reported: until the
// broker has confirmed that it is tried again. It is false when the consumer ended before, and the
// message comes again.
func (s *session[T]) read(ctx context.Context, d *amqp091.Delivery) (items []T,
	unreadable []task.DeadLetter, ok bool) {
	f := s.feed
	items, why := f.decode(d)
	if why == nil {
		return items, nil, true
	}
	s.end.refuse(f.name, d, why)
	if f.reject != nil {
		return items, []task.DeadLetter{f.reject(d, why)}, true
	}
	for p := (pause{}); ; p.wait(ctx) {
		if !errors.Is(s.end.report(ctx, f.report, f.queue, d, why), queue.ErrAway) {
			return items, nil, true
		}
		select {
		case <-s.consumer.gone:
			return nil, nil, false
		case <-s.consumer.stop:
			return nil, nil, false
		case <-ctx.Done():
			return nil, nil, false
		default:
		}
	}
}

func (s *session[T]) add(p *parcel) queue.Delivery[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, p)
	return queue.Delivery[T]{Ack: func() error { return s.ack(p) }}
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

// tell makes a dead letter of a message that cannot be read, or reports it. It may be lost.
func (f *feed[T]) tell(e *end, d *amqp091.Delivery, why error) {
	if f.reject != nil {
		select {
		case e.unreadable <- f.reject(d, why):
		default:
		}
		return
	}
	body, hash := beginning(d.Body)
	_ = e.publisher.post(f.report, amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: body,
		Headers: reportHeaders(f.queue, why, len(d.Body), hash)})
}

// pass hands on what is in one message and acknowledges it; false when the consumer is over.
func pass[T any](ctx context.Context, e *end, f *feed[T], k *consumer, d *amqp091.Delivery, out chan<- T) bool {
	if k.passOver(d) {
		return k.ch.Ack(d.DeliveryTag, false) == nil
	}
	items, err := f.decode(d)
	if err != nil {
		e.refuse(f.name, d, err)
		f.tell(e, d, err)
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
