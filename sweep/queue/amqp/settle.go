package amqp

import (
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// mostTries is how often one message is published to a queue that is not there before its sender is told.
const mostTries = 3

// settle takes the messages whose confirmation came, and publishes again what came back.
func (s *sender) settle() error {
	s.drain()
	var back []*message
	n := 0
	for ; n < len(s.flight) && isDone(s.flight[n].confirm); n++ {
		m := s.flight[n]
		switch {
		case s.returned[m.id]: // it came before the confirmation, and the queue is not there
			delete(s.returned, m.id)
			if m.tries < mostTries && !m.of.abandoned.Load() {
				back = append(back, m)
				continue
			}
			m.of.settled(fmt.Errorf("%w: %s is not there, or deleted again and again; the master makes it", queue.ErrAway, m.of.to))
		case m.confirm.Acked():
			m.of.settled(nil)
		default:
			m.of.settled(fmt.Errorf("%w: the broker did not take a message for %s; it may be full", queue.ErrAway, m.of.to))
		}
	}
	clear(s.flight[:n]) // so that they can be collected
	if s.flight = s.flight[n:]; len(s.flight) == 0 {
		s.flight = nil
	}
	return s.again(back)
}

func isDone(c *amqp091.DeferredConfirmation) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// drain notes what came back. What comes back comes before its confirmation.
func (s *sender) drain() {
	for {
		select {
		case r, ok := <-s.returns:
			if !ok {
				return
			}
			s.returned[r.MessageId] = true
		default:
			return
		}
	}
}

// graceOfDeleted is how long a deleted queue is left so. A broker (seen with RabbitMQ 3.10) that has not yet told its
// consumers when the queue is there again lets them believe that they consume the new one, and gives them nothing.
const graceOfDeleted = 250 * time.Millisecond

// again makes the queues of messages that came back, and publishes them once more.
func (s *sender) again(back []*message) error {
	if len(back) == 0 {
		return nil
	}
	grace := time.NewTimer(graceOfDeleted)
	defer grace.Stop()
	select {
	case <-grace.C:
	case <-s.stop:
	}
	for i, m := range back {
		if i == 0 || m.of.to != back[i-1].of.to {
			delete(s.known, m.of.to.key)
		}
		err := s.declare(m.of.to)
		if err == nil {
			err = s.publish(m)
		}
		if err != nil {
			for _, m := range back[i:] {
				m.of.finish(s.wrap(err))
			}
			return err
		}
	}
	return nil
}
