package amqp_test

import (
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/task"
)

// TestLinesComeOnceBesideAFullQueue binds a second queue to the exchange of lines that refuses
// everything, as the queue of a master does whose host is dead and whose connection the broker has
// not given up yet.
func TestLinesComeOnceBesideAFullQueue(t *testing.T) {
	s := open(t)
	p := s.port(t, "w1")
	lines := s.hub.Lines(t.Context())
	show := func(n int64) {
		waitFor(t, "a line is shown",
			func() bool { return p.OfferLine(task.Line{Index: n}) })
	}
	read := func(want int64) {
		t.Helper()
		select {
		case l := <-lines:
			if l.Index != want {
				t.Fatalf("line %d came; want %d", l.Index, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("line %d did not come", want)
		}
	}
	waitFor(t, "the first line comes", func() bool {
		p.OfferLine(task.Line{Index: 0})
		select {
		case <-lines:
			return true
		case <-time.After(100 * time.Millisecond):
			return false
		}
	})
	s.drainLines(lines)

	ch := channel(t, s)
	q, err := ch.QueueDeclare("", false, true, true, false,
		amqp091.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
	if err == nil {
		err = ch.QueueBind(q.Name, "lines.#", "from-workers", false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	show(1)
	read(1)
	select {
	case l := <-lines:
		t.Errorf("line %d came again", l.Index)
	case <-time.After(300 * time.Millisecond): // some refusals long
	}
	if _, err := ch.QueueDelete(q.Name, false, false, false); err != nil {
		t.Fatal(err)
	}
	show(2)
	read(2)
}

// drainLines reads lines until none comes for a while.
func (s *site) drainLines(lines <-chan task.Line) {
	for {
		select {
		case <-lines:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}
