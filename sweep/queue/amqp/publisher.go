package amqp

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// publisher sends messages over one connection at a time. Its methods may be called concurrently.
type publisher struct {
	address address
	status  *statusTracker
	// declares what this end needs, or sees that it is there
	prepare func(c *connection, ch *amqp091.Channel) error
	probe   probe
	current atomic.Pointer[connPublisher]
}

// probe is a message that is sent once a second: a broker that accepts nothing reports this only to
// clients that publish. Nobody consumes it.
type probe struct {
	to route
	m  amqp091.Publishing
}

// unreachable is the error of what cannot be asked now.
func (p *publisher) unreachable() error {
	s := p.status.status()
	if s.Reason == "" {
		return queue.ErrUnreachable
	}
	return fmt.Errorf("%w: %s", queue.ErrUnreachable, s.Reason)
}

// serve works with a connection until it is over.
func (p *publisher) serve(ctx context.Context, c *connection) error {
	s, err := newConnPublisher(p, c)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.hangUp) // it may wait for an answer
	defer stop()
	p.current.Store(s)
	p.status.works(partPublishing)
	err = s.run(ctx)
	p.current.CompareAndSwap(s, nil)
	if ctx.Err() == nil {
		p.status.failed(partPublishing, explain(p.address, err, nil))
	}
	s.failPending(err)
	c.hangUp()
	s.watchers.Wait()
	p.status.setBlocked("")
	return err
}

// publish publishes messages, in order, and returns when the broker keeps each of them.
func (p *publisher) publish(ctx context.Context, to route, bodies [][]byte) error {
	return p.submit(ctx, &request{to: to, bodies: bodies})
}

// submit hands a request to the sender and waits for its end, for ctx or for confirmTimeout.
func (p *publisher) submit(ctx context.Context, r *request) error {
	s := p.current.Load()
	if s == nil {
		return p.unreachable()
	}
	r.done = make(chan error, 1)
	late := time.NewTimer(confirmTimeout)
	defer late.Stop()
	select {
	case s.requests <- r:
	case <-s.done:
		return p.unreachable()
	case <-ctx.Done():
		return s.waitError(ctx.Err())
	case <-late.C:
		return s.waitError(errConfirmTimeout)
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		r.abandoned.Store(true)
		return s.waitError(ctx.Err())
	case <-late.C:
		r.abandoned.Store(true)
		return s.waitError(errConfirmTimeout)
	case <-s.done:
		select {
		case err := <-r.done:
			return err
		default:
			return p.unreachable()
		}
	}
}

var errConfirmTimeout = fmt.Errorf("the broker did not confirm in %v", confirmTimeout)

// publishUnconfirmed publishes without waiting for anything. What nobody takes is lost.
func (p *publisher) publishUnconfirmed(to route, m amqp091.Publishing) error {
	s := p.current.Load()
	if s == nil {
		return p.unreachable()
	}
	if why := s.blockedBy(); why != "" {
		return s.waitError(nil)
	}
	s.unconfirmedMu.Lock()
	defer s.unconfirmedMu.Unlock()
	m.UserId = s.conn.user
	if err := s.unconfirmed.Publish(to.exchange, to.key, false, false, m); err != nil {
		return fmt.Errorf("%w: %w", queue.ErrUnreachable, err)
	}
	return nil
}
