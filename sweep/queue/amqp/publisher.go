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
	at      place
	state   *state
	prepare func(c *connection, ch *amqp091.Channel) error // declares what this end needs, or sees that it is there
	nowhere route                                          // what is sent there is dropped
	current atomic.Pointer[sender]
}

// away is the error of what cannot be asked now.
func (p *publisher) away() error {
	s := p.state.status()
	if s.Reason == "" {
		return queue.ErrAway
	}
	return fmt.Errorf("%w: %s", queue.ErrAway, s.Reason)
}

// serve works with a connection until it is over.
func (p *publisher) serve(ctx context.Context, c *connection) error {
	s, err := newSender(p, c)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.hangUp) // it may wait for an answer
	defer stop()
	p.current.Store(s)
	p.state.well(partPublishing)
	err = s.run(ctx)
	p.current.CompareAndSwap(s, nil)
	if ctx.Err() == nil {
		p.state.fail(partPublishing, explain(p.at, err, nil))
	}
	s.end(err)
	c.hangUp()
	s.watchers.Wait()
	p.state.block("")
	return err
}

// send publishes messages, in order, and returns when the broker keeps each of them.
func (p *publisher) send(ctx context.Context, to route, bodies [][]byte) error {
	return p.ask(ctx, &request{to: to, bodies: bodies})
}

// ask hands a request to the sender and waits for its end, for ctx or for confirmTimeout.
func (p *publisher) ask(ctx context.Context, r *request) error {
	s := p.current.Load()
	if s == nil {
		return p.away()
	}
	r.done = make(chan error, 1)
	late := time.NewTimer(confirmTimeout)
	defer late.Stop()
	select {
	case s.requests <- r:
	case <-s.over:
		return p.away()
	case <-ctx.Done():
		return s.gaveUp(ctx.Err())
	case <-late.C:
		return s.gaveUp(errLate)
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		r.abandoned.Store(true)
		return s.gaveUp(ctx.Err())
	case <-late.C:
		r.abandoned.Store(true)
		return s.gaveUp(errLate)
	case <-s.over:
		select {
		case err := <-r.done:
			return err
		default:
			return p.away()
		}
	}
}

var errLate = fmt.Errorf("the broker did not confirm in %v", confirmTimeout)

// post publishes without waiting for anything. What nobody takes is lost.
func (p *publisher) post(to route, m amqp091.Publishing) error {
	s := p.current.Load()
	if s == nil {
		return p.away()
	}
	if why := s.blockedBy(); why != "" {
		return s.gaveUp(nil)
	}
	s.plainLock.Lock()
	defer s.plainLock.Unlock()
	m.UserId = s.c.user
	if err := s.plain.Publish(to.exchange, to.key, false, false, m); err != nil {
		return fmt.Errorf("%w: %w", queue.ErrAway, err)
	}
	return nil
}
