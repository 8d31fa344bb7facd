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

// sender publishes over one connection. Its goroutine owns the confirmed channel.
type sender struct {
	p        *publisher
	c        *connection
	requests chan *request
	stop     <-chan struct{} // closed when it has to end
	over     chan struct{}   // closed at the end, when all requests have their result

	confirmed *amqp091.Channel
	admin     *amqp091.Channel
	returns   chan amqp091.Return
	closed    [4]chan *amqp091.Error
	flight    []*message // in the order of their publishing
	returned  map[string]bool
	known     map[string]bool // queues that were declared
	sent      uint64

	live *amqp091.Channel // confirmed, for lines; used by one goroutine

	plainLock sync.Mutex
	plain     *amqp091.Channel

	blocked  atomic.Pointer[string]
	wake     chan struct{} // blocked changed
	took     time.Time     // when it was last seen blocked
	watchers sync.WaitGroup
}

// mostReturns is more than a broker sends back before it confirms.
const mostReturns = 1024

// mostInFlight bounds messages that wait for their confirmation.
const mostInFlight = 4096

func newSender(p *publisher, c *connection) (*sender, error) {
	s := &sender{p: p, c: c, requests: make(chan *request), over: make(chan struct{}), wake: make(chan struct{}, 1),
		returned: map[string]bool{}, known: map[string]bool{}}
	var err error
	for i, ch := range []**amqp091.Channel{&s.confirmed, &s.admin, &s.plain, &s.live} {
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
	if err := s.live.Confirm(false); err != nil {
		return nil, err
	}
	s.returns = s.confirmed.NotifyReturn(make(chan amqp091.Return, mostReturns))
	blocks := c.NotifyBlocked(make(chan amqp091.Blocking, 1))
	s.watchers.Go(func() {
		for b := range blocks { // closed with the connection
			why := ""
			if b.Active {
				why = "the broker takes no messages: " + b.Reason
			}
			s.blocked.Store(&why)
			p.state.block(why)
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	})
	return s, nil
}

func (s *sender) blockedBy() string {
	if why := s.blocked.Load(); why != nil {
		return *why
	}
	return ""
}

// gaveUp is the error of who waited in vain.
func (s *sender) gaveUp(err error) error {
	why := s.blockedBy()
	switch {
	case why == "":
		return fmt.Errorf("%w: %w", queue.ErrAway, err)
	case err == nil:
		return fmt.Errorf("%w: %s", queue.ErrAway, why)
	}
	return fmt.Errorf("%w: %s: %w", queue.ErrAway, why, err)
}

// run takes requests and settles what was confirmed, until the connection is of no use.
func (s *sender) run(ctx context.Context) error {
	s.stop = ctx.Done()
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		requests := s.requests
		if len(s.flight) >= mostInFlight || s.blockedBy() != "" {
			requests = nil
		}
		var confirmed <-chan struct{}
		if len(s.flight) > 0 {
			confirmed = s.flight[0].confirm.Done()
		}
		var err error
		select {
		case r := <-requests:
			err = s.take(r)
		case <-confirmed:
			err = s.settle()
		case r, ok := <-s.returns:
			if ok {
				s.returned[r.MessageId] = true
			}
		case <-s.wake: // it takes messages again, or does not
		case <-clock.C:
			s.probe()
			err = s.check(time.Now())
		case err = <-s.closed[0]:
			err = ended(err)
		case err = <-s.closed[1]:
			err = ended(err)
		case err = <-s.closed[2]:
			err = ended(err)
		case err = <-s.closed[3]:
			err = ended(err)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// probe sends a message to nowhere: a broker that takes nothing says so only to those that send something.
func (s *sender) probe() {
	if s.blockedBy() == "" && s.plainLock.TryLock() {
		defer s.plainLock.Unlock()
		to := s.p.nowhere
		_ = s.plain.Publish(to.exchange, to.key, false, false, amqp091.Publishing{Expiration: "0"}) // a connection that has ended says so itself
	}
}

// check ends a connection on which nothing is confirmed.
func (s *sender) check(now time.Time) error {
	switch {
	case s.blockedBy() != "":
		s.took = now // what waited meanwhile gets its time after the end of it
	case len(s.flight) > 0 && now.Sub(s.flight[0].begin) > confirmTimeout && now.Sub(s.took) > confirmTimeout:
		return errLate
	}
	return nil
}

// take does what a request asks. Its errors end the connection.
func (s *sender) take(r *request) error {
	if r.abandoned.Load() {
		return nil
	}
	if r.do != nil {
		err := r.do(s.admin)
		r.done <- s.wrap(err)
		delete(s.known, r.to.key)
		return err
	}
	if r.open = len(r.bodies); r.open == 0 {
		r.done <- nil
		return nil
	}
	if err := s.declare(r.to); err != nil {
		r.done <- s.wrap(err)
		return err
	}
	begin := time.Now()
	for _, body := range r.bodies {
		if err := s.publish(&message{of: r, body: body, begin: begin}); err != nil {
			r.finish(s.wrap(err))
			return err
		}
	}
	return nil
}

func (s *sender) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", queue.ErrAway, explain(s.p.at, err, nil))
}

func (s *sender) declare(to route) error {
	if !to.declares || s.known[to.key] {
		return nil
	}
	if err := declareQueue(s.admin, to.key); err != nil {
		return err
	}
	s.known[to.key] = true
	return nil
}

func (s *sender) publish(m *message) (err error) {
	s.sent++
	m.id = strconv.FormatUint(s.sent, 36)
	m.tries++
	p := amqp091.Publishing{DeliveryMode: amqp091.Persistent, MessageId: m.id, Body: m.body, UserId: s.c.user, Headers: m.of.headers}
	m.confirm, err = s.confirmed.PublishWithDeferredConfirm(m.of.to.exchange, m.of.to.key, true, false, p)
	if err == nil {
		s.flight = append(s.flight, m)
	}
	return err
}

// end gives every request its result.
func (s *sender) end(err error) {
	for _, m := range s.flight {
		m.of.finish(s.wrap(err))
	}
	s.flight = nil
	close(s.over)
}

func ended(err error) error {
	var said *amqp091.Error
	if errors.As(err, &said) && said != nil {
		return said
	}
	return amqp091.ErrClosed
}
