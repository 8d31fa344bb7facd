package amqp

import (
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// maxPublishAttempts is how often one message is published to a queue that is not there before its
// sender is told.
const maxPublishAttempts = 3

// handleConfirms takes the messages whose confirmation came, and publishes again what came back.
func (s *connPublisher) handleConfirms() error {
	s.collectReturns()
	var back []*message
	n := 0
	for ; n < len(s.inFlight) && isConfirmed(s.inFlight[n].confirm); n++ {
		m := s.inFlight[n]
		switch {
		case s.returned[m.id]: // it came before the confirmation, and the queue is not there
			delete(s.returned, m.id)
			if m.attempts < maxPublishAttempts && !m.request.abandoned.Load() {
				back = append(back, m)
				continue
			}
			m.request.confirmOne(fmt.Errorf("%w: %s is not there, or deleted again and again; "+
				"the master makes it", queue.ErrUnreachable, m.request.to))
		case m.confirm.Acked():
			m.request.confirmOne(nil)
		default:
			m.request.confirmOne(fmt.Errorf("%w: the broker did not take a message for %s; it "+
				"may be full", queue.ErrUnreachable, m.request.to))
		}
	}
	clear(s.inFlight[:n]) // so that they can be collected
	if s.inFlight = s.inFlight[n:]; len(s.inFlight) == 0 {
		s.inFlight = nil
	}
	return s.republish(back)
}

func isConfirmed(c *amqp091.DeferredConfirmation) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// collectReturns notes what came back. What comes back comes before its confirmation.
func (s *connPublisher) collectReturns() {
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

// redeclareDelay is how long a deleted queue is left so. A broker (seen with RabbitMQ 3.10) that
// has not yet told its consumers when the queue is there again lets them believe that they consume
// the new one, and gives them nothing.
const redeclareDelay = 250 * time.Millisecond

// republish makes the queues of messages that came back, and publishes them once more.
func (s *connPublisher) republish(back []*message) error {
	if len(back) == 0 {
		return nil
	}
	grace := time.NewTimer(redeclareDelay)
	defer grace.Stop()
	select {
	case <-grace.C:
	case <-s.stop:
	}
	for i, m := range back {
		if i == 0 || m.request.to != back[i-1].request.to {
			delete(s.declared, m.request.to.key)
		}
		err := s.declare(m.request.to)
		if err == nil {
			err = s.publish(m)
		}
		if err != nil {
			for _, m := range back[i:] {
				m.request.finish(s.fault(err))
			}
			return err
		}
	}
	return nil
}
