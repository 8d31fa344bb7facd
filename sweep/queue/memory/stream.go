package memory

import (
	"context"
	"maps"
	"slices"
	"sync"

	"mlframework/sweep/queue"
)

// openTransient moves items from a queue to its reader, until ctx ends. What was not taken by then
// stays in the queue.
func openTransient[T any](ctx context.Context, b *fifo[T]) <-chan T {
	out := make(chan T)
	go func() {
		defer close(out)
		for {
			items := b.next(1, ctx.Done(), nil)
			if items == nil {
				return
			}
			select {
			case out <- items[0]:
			case <-ctx.Done():
				b.putBack(items)
				return
			}
		}
	}()
	return out
}

// openDeliveries gives items of a queue to one consumer, most of them at once, until ctx ends. An
// outage ends its session, as it ends a connection: what is not acknowledged by then goes back to
// the queue.
func openDeliveries[T any](ctx context.Context, b *fifo[T], most int,
	o *outage) <-chan queue.Delivery[T] {
	out := make(chan queue.Delivery[T])
	go func() {
		defer close(out)
		for {
			cut, ok := o.waitEnd(ctx)
			if !ok {
				return
			}
			s := session[T]{fifo: b, outage: cut, unacked: map[int][]T{}}
			s.run(ctx, most, out)
		}
	}()
	return out
}

// session is what one consumer got between two outages.
type session[T any] struct {
	fifo   *fifo[T]
	outage <-chan struct{} // closed when an outage begins

	mu      sync.Mutex
	count   int         // deliveries ever made
	unacked map[int][]T // those not acknowledged, by their number; nil after the end
}

// run delivers until ctx ends or an outage begins.
func (s *session[T]) run(ctx context.Context, most int, out chan<- queue.Delivery[T]) {
	defer s.close()
	for {
		items := s.fifo.next(most, ctx.Done(), s.outage)
		if items == nil {
			return
		}
		d := s.add(items)
		if s.over() {
			// these may have come after the outage, and then follow what was not acknowledged
			// before it
			return
		}
		select {
		case out <- d:
		case <-ctx.Done():
			return
		case <-s.outage:
			return
		}
	}
}

// over reports whether an outage has begun.
func (s *session[T]) over() bool {
	select {
	case <-s.outage:
		return true
	default:
		return false
	}
}

func (s *session[T]) add(items []T) queue.Delivery[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.count
	s.count++
	s.unacked[n] = items
	return queue.Delivery[T]{Items: items, Ack: func() error { return s.ack(n) }}
}

func (s *session[T]) ack(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() || s.unacked == nil {
		return queue.ErrUnreachable
	}
	delete(s.unacked, n)
	return nil
}

// close returns what was not acknowledged to the front of the queue, in its order.
func (s *session[T]) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []T
	for _, n := range slices.Sorted(maps.Keys(s.unacked)) {
		items = append(items, s.unacked[n]...)
	}
	s.unacked = nil
	s.fifo.putBack(items)
}
