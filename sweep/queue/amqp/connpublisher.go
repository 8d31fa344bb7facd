package amqp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// connPublisher publishes over one connection. Its goroutine owns the confirmed channel.
type connPublisher struct {
	publisher *publisher
	conn      *connection
	requests  chan *request
	stop      <-chan struct{} // closed when it has to end
	done      chan struct{}   // closed at the end, when all requests have their result

	confirmed *amqp091.Channel
	admin     *amqp091.Channel
	returns   chan amqp091.Return
	closed    [4]chan *amqp091.Error
	inFlight  []*message // in the order of their publishing
	returned  map[string]bool
	declared  map[string]bool // queues that were declared
	lastID    uint64

	lines *amqp091.Channel // confirmed, for lines; used by one goroutine

	unconfirmedMu sync.Mutex
	unconfirmed   *amqp091.Channel

	blocked     atomic.Pointer[string]
	wake        chan struct{} // blocked changed
	lastBlocked time.Time     // when it was last seen blocked
	watchers    sync.WaitGroup
}

// maxReturns is more than a broker sends back before it confirms.
const maxReturns = 1024

// maxInFlight bounds messages that wait for their confirmation.
const maxInFlight = 4096

func newConnPublisher(p *publisher, c *connection) (*connPublisher, error) {
	s := &connPublisher{publisher: p, conn: c, requests: make(chan *request),
		done: make(chan struct{}), wake: make(chan struct{}, 1),
		returned: map[string]bool{}, declared: map[string]bool{}}
	var err error
	for i, ch := range []**amqp091.Channel{&s.confirmed, &s.admin, &s.unconfirmed, &s.lines} {
		if *ch, err = c.Channel(); err != nil {
			return nil, err
		}
		s.closed[i] = (*ch).NotifyClose(make(chan *amqp091.Error, 1))
	}
	if err := p.prepare(c, s.admin); err != nil {
		return nil, err
	}
	if err := s.confirmed.Confirm(false); err != nil {
		return nil, err
	}
	if err := s.lines.Confirm(false); err != nil {
		return nil, err
	}
	s.returns = s.confirmed.NotifyReturn(make(chan amqp091.Return, maxReturns))
	blocks := c.NotifyBlocked(make(chan amqp091.Blocking, 1))
	s.watchers.Go(func() {
		for b := range blocks { // closed with the connection
			why := ""
			if b.Active {
				why = "the broker takes no messages: " + b.Reason
			}
			s.blocked.Store(&why)
			p.status.setBlocked(why)
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	})
	return s, nil
}

func (s *connPublisher) blockedBy() string {
	if why := s.blocked.Load(); why != nil {
		return *why
	}
	return ""
}

// waitError returns the error of a request that was not finished in time.
func (s *connPublisher) waitError(err error) error {
	why := s.blockedBy()
	switch {
	case why == "":
		return fmt.Errorf("%w: %w", queue.ErrUnreachable, err)
	case err == nil:
		return fmt.Errorf("%w: %s", queue.ErrUnreachable, why)
	}
	return fmt.Errorf("%w: %s: %w", queue.ErrUnreachable, why, err)
}

// run takes requests and settles what was confirmed, until the connection is of no use.
func (s *connPublisher) run(ctx context.Context) error {
	s.stop = ctx.Done()
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		requests := s.requests
		if len(s.inFlight) >= maxInFlight || s.blockedBy() != "" {
			requests = nil
		}
		var confirmed <-chan struct{}
		if len(s.inFlight) > 0 {
			confirmed = s.inFlight[0].confirm.Done()
		}
		var err error
		select {
		case r := <-requests:
			err = s.handle(r)
		case <-confirmed:
			err = s.handleConfirms()
		case r, ok := <-s.returns:
			if ok {
				s.returned[r.MessageId] = true
			}
		case <-s.wake: // it takes messages again, or does not
		case <-clock.C:
			s.probe()
			err = s.checkConfirms(time.Now())
		case err = <-s.closed[0]:
			err = closeError(err)
		case err = <-s.closed[1]:
			err = closeError(err)
		case err = <-s.closed[2]:
			err = closeError(err)
		case err = <-s.closed[3]:
			err = closeError(err)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

func (s *connPublisher) probe() {
	if s.blockedBy() == "" && s.unconfirmedMu.TryLock() {
		defer s.unconfirmedMu.Unlock()
		p := s.publisher.probe
		// a connection that has ended says so itself
		_ = s.unconfirmed.Publish(p.to.exchange, p.to.key, false, false, p.m)
	}
}

// checkConfirms ends a connection on which nothing is confirmed.
func (s *connPublisher) checkConfirms(now time.Time) error {
	switch {
	case s.blockedBy() != "":
		s.lastBlocked = now // what waited meanwhile gets its time after the end of it
	case len(s.inFlight) > 0 && now.Sub(s.inFlight[0].published) > confirmTimeout &&
		now.Sub(s.lastBlocked) > confirmTimeout:
		return errConfirmTimeout
	}
	return nil
}

// handle does what a request asks. Its errors end the connection.
func (s *connPublisher) handle(r *request) error {
	if r.abandoned.Load() {
		return nil
	}
	if r.do != nil {
		err := r.do(s.admin)
		r.done <- s.fault(err)
		delete(s.declared, r.to.key)
		return err
	}
	if r.pending = len(r.bodies); r.pending == 0 {
		r.done <- nil
		return nil
	}
	if err := s.declare(r.to); err != nil {
		r.done <- s.fault(err)
		return err
	}
	begin := time.Now()
	for _, body := range r.bodies {
		if err := s.publish(&message{request: r, body: body, published: begin}); err != nil {
			r.finish(s.fault(err))
			return err
		}
	}
	return nil
}

func (s *connPublisher) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", queue.ErrUnreachable, explain(s.publisher.address, err, nil))
}

func (s *connPublisher) declare(to route) error {
	if !to.declares || s.declared[to.key] {
		return nil
	}
	if err := declareQueue(s.admin, to.key); err != nil {
		return err
	}
	s.declared[to.key] = true
	return nil
}

func (s *connPublisher) publish(m *message) (err error) {
	s.lastID++
	m.id = strconv.FormatUint(s.lastID, 36)
	m.attempts++
	p := amqp091.Publishing{DeliveryMode: amqp091.Persistent, MessageId: m.id, Body: m.body,
		UserId: s.conn.user, Headers: m.request.headers}
	m.confirm, err = s.confirmed.PublishWithDeferredConfirm(m.request.to.exchange, m.request.to.key,
		true, false, p)
	if err == nil {
		s.inFlight = append(s.inFlight, m)
	}
	return err
}

// failPending ends every request that is not finished with an error.
func (s *connPublisher) failPending(err error) {
	for _, m := range s.inFlight {
		m.request.finish(s.fault(err))
	}
	s.inFlight = nil
	close(s.done)
}

func closeError(err error) error {
	var said *amqp091.Error
	if errors.As(err, &said) && said != nil {
		return said
	}
	return amqp091.ErrClosed
}
