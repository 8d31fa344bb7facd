package amqp_test

import (
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/task"
)

// bury puts a message to the dead letters as this package does, and waits until it is there.
func (s *site) bury(t *testing.T, from string, body []byte, reason string) {
	t.Helper()
	before := s.count(t)
	if err := amqp.Bury(t.Context(), s.hub, from, body, reason); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it is dead", func() bool { return s.count(t) > before })
}

func (s *site) count(t *testing.T) int {
	t.Helper()
	all, err := s.hub.Dead(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return all.Count
}

// What a broker gives up on by itself lands where everything does that is dead, if a policy says so, and can be requeued.
func TestWhatTheBrokerGivesUpIsADeadLetter(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.broker.SetPolicy(t, s.vhost, "^tasks[.]", `{"delivery-limit":2,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`)
	s.port(t, "w1")
	publish(t, s, 1)
	ch := channel(t, s)
	for range 3 {
		waitFor(t, "it comes", func() bool {
			d, there, err := ch.Get("tasks.w1", false)
			return err == nil && there && d.Nack(false, true) == nil
		})
	}
	waitFor(t, "it is dead", func() bool { return s.count(t) == 1 })
	all, err := s.hub.Dead(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	l := all.Letters[0]
	if l.From != "tasks.w1" || l.Reason != "the broker put it aside: delivery limit" || l.Time.IsZero() || !strings.Contains(string(l.Head), `"sweep":"a-1"`) {
		t.Errorf("it is %+v", l)
	}
	if done, err := s.hub.Requeue(t.Context(), l.ID); err != nil || done.Moved != 1 {
		t.Errorf("requeued: %+v, %v", done, err)
	}
	next(t, s.port(t, "w1").Consume(t.Context()), 1)
}

// An unreadable message is acknowledged only when it is among the dead.
func TestWhatCannotBeReadIsKeptThroughAnOutage(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	put(t, s, "tasks.w1", "not a batch")
	in := p.Consume(t.Context())
	for range 3 {
		s.outage(t, true)
		s.outage(t, false)
	}
	publish(t, s, 1)
	next(t, in, 1)
	waitFor(t, "it is dead", func() bool { return s.count(t) > 0 })
	all, err := s.hub.Dead(t.Context(), 10)
	if err != nil || string(all.Letters[0].Head) != "not a batch" ||
		all.Letters[0].From != "tasks.w1" {
		t.Errorf("the dead are %+v, %v", all, err)
	}
}

// What a look gives back is there for the next.
func TestManyDeadLettersAreListed(t *testing.T) {
	t.Parallel()
	s := open(t)
	ch := channel(t, s)
	const many = 500
	for range many {
		if err := ch.Publish("", amqp.Dead, false, false, amqp091.Publishing{Body: []byte(`{"x":1}`), Headers: amqp091.Table{"from": "events"}}); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "all are dead", func() bool { return s.count(t) == many })
	if n := s.count(t); n != many {
		t.Errorf("then %d are dead", n)
	}
	all, err := s.hub.Dead(t.Context(), 3)
	if err != nil || len(all.Letters) != 3 {
		t.Errorf("%d of %d are listed, %v", len(all.Letters), all.Count, err)
	}
	if n, err := s.hub.Drop(t.Context(), queue.AllLetters); err != nil || n != many {
		t.Errorf("%d were dropped, %v", n, err)
	}
	depths, err := s.hub.Depths(t.Context(), "w1")
	if err != nil || len(depths) != 3 || depths[2].Queue != amqp.Dead || depths[2].Consumers == nil {
		t.Errorf("the depths are %+v, %v", depths, err)
	}
	if err := s.hub.Publish(t.Context(), "w1", task.Batch{Version: task.Version}); err != nil {
		t.Error(err)
	}
}
