package amqp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/task"
)

// before makes in a vhost what master and workers of the version before made, with one user for all
// workers.
func (s *site) before(t *testing.T) *amqp091.Channel {
	t.Helper()
	ch := channel(t, s)
	for name, kind := range map[string]string{"control": "direct", "lines": "fanout",
		"pieces": "fanout"} {
		if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, kind := range map[string]string{"events": "quorum", "heartbeats": "classic",
		"dead": "quorum", "tasks.w1": "quorum"} {
		if _, err := ch.QueueDeclare(name, true, false, false, false,
			amqp091.Table{"x-queue-type": kind}); err != nil {
			t.Fatal(err)
		}
	}
	return ch
}

func (s *site) left(t *testing.T, ch *amqp091.Channel, queue string, v any, headers amqp091.Table) {
	t.Helper()
	body, err := json.Marshal(v)
	if err == nil {
		err = ch.Publish("", queue, true, false,
			amqp091.Publishing{DeliveryMode: amqp091.Persistent, MessageId: "1", Headers: headers,
				Body: body})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A broker that a cluster of the version before has used is taken over: batches, events and dead
// letters that wait are neither lost nor refused, events come before those of new workers, and what
// nobody needs is gone.
func TestTakeoverOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	s := &site{broker: shared.Get(t), vhost: shared.Vhost(t)}
	ch := s.before(t)
	const many = 600 // more than are moved at once
	for n := range many {
		s.left(t, ch, "events", []task.Event{{Version: task.Version, Kind: task.ClaimedEvent,
			Worker: "w1", Sweep: "a-1", Index: int64(n), Attempt: 1}}, nil)
	}
	s.left(t, ch, "tasks.w1", batch(7), nil)
	s.left(t, ch, "heartbeats", task.Heartbeat{Version: task.Version, Worker: "w1"}, nil)
	s.left(t, ch, "dead", []task.Event{{Version: task.Version, Kind: task.ClaimedEvent,
		Worker: "w1", Sweep: "a-1", Index: many + 1, Attempt: 1}},
		amqp091.Table{"from": "events", "reason": "too often", "time": "2026-01-02T03:04:05Z"})
	s.left(t, ch, "dead", batch(8), amqp091.Table{"from": "tasks.w1", "reason": "too often",
		"time": "2026-01-02T03:04:05Z"})
	waitFor(t, "all is there", func() bool {
		q, err := ch.QueueDeclarePassive("events", true, false, false, false, nil)
		return err == nil && q.Messages == many
	})
	s = openAt(t, s.broker, s.vhost)
	p := s.port(t, "w1")
	if err := p.Emit(t.Context(), task.Event{Version: task.Version, Worker: "w1", Sweep: "a-1",
		Index: many}); err != nil {
		t.Fatal(err)
	}
	events := s.hub.Events(t.Context())
	for next := int64(0); next <= many; {
		d := <-events
		for _, e := range d.Items {
			if e.Index != next {
				t.Fatalf("event %d came; want %d", e.Index, next)
			}
			next++
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	batches := p.Consume(t.Context())
	next(t, batches, 7)
	for _, l := range s.dead(t, 2) {
		s.requeue(t, l, true)
	}
	next(t, batches, 8)
	if d := <-events; d.Items[0].Index != many+1 {
		t.Errorf("event %d came", d.Items[0].Index)
	}
	if n := s.hub.Status().Refused; n != 0 {
		t.Errorf("%d messages were refused", n)
	}
	for _, name := range []string{"events", "heartbeats"} {
		waitFor(t, "the queue is gone", func() bool {
			_, err := channel(t, s).QueueDeclarePassive(name, true, false, false, false, nil)
			return notFound(err)
		})
	}
	for _, name := range []string{"control", "lines", "pieces"} {
		if err := channel(t, s).ExchangeDeclarePassive(name, "direct", true, false, false, false,
			nil); !notFound(err) {
			t.Errorf("the exchange %s is there: %v", name, err)
		}
	}
}

// A worker of the version before that runs on is heard, gets what is said to it, and reports; when
// it speaks as its own user, nobody else is heard in its name.
func TestAWorkerOfTheVersionBeforeRunsOn(t *testing.T) {
	t.Parallel()
	s := &site{broker: shared.Get(t), vhost: shared.Vhost(t)}
	ch := s.before(t)
	q, err := ch.QueueDeclare("control.w1.ABC", false, true, true, false, nil)
	if err == nil {
		err = ch.QueueBind(q.Name, "w1", "control", false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	controls, err := ch.Consume(q.Name, "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s = openAt(t, s.broker, s.vhost)
	beats, events := s.hub.Heartbeats(t.Context()), s.hub.Events(t.Context())
	for n := range 2 { // it goes on
		s.left(t, ch, "heartbeats", task.Heartbeat{Version: task.Version, Worker: "w1", Slots: n},
			nil)
		if h := <-beats; h.Worker != "w1" || h.Slots != n {
			t.Errorf("heartbeat %d: %+v came", n, h)
		}
		s.left(t, ch, "events", []task.Event{{Version: task.Version, Worker: "w1",
			Index: int64(n)}}, nil)
		if d := <-events; d.Items[0].Index != int64(n) || d.Ack() != nil {
			t.Errorf("event %d: %+v came", n, d.Items)
		}
	}
	if err := s.hub.SendControl(t.Context(), "w1",
		task.Control{Kind: task.DrainControl}); err != nil {
		t.Fatal(err)
	}
	if d := <-controls; !strings.Contains(string(d.Body), "drain") {
		t.Errorf("it was told %s", d.Body)
	}
	p := s.port(t, "w1")
	if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Version: task.Version, Worker: "w1",
		Slots: 7}); err != nil {
		t.Fatal(err)
	}
	if h := <-beats; h.Slots != 7 {
		t.Errorf("%+v came", h)
	}
	s.left(t, ch, "heartbeats", task.Heartbeat{Version: task.Version, Worker: "w1", Slots: 8}, nil)
	waitFor(t, "it is refused", func() bool { return s.hub.Status().Refused == 1 })
}

// As long as a master of the version before reads the old queue, or a worker writes there, it stays
// and is taken in.
func TestTheOldQueueStaysAsLongAsItIsUsed(t *testing.T) {
	t.Parallel()
	s := &site{broker: shared.Get(t), vhost: shared.Vhost(t)}
	ch := s.before(t)
	if _, err := ch.Consume("events", "old", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, s.broker, s.vhost)
	events := s.hub.Events(t.Context())
	s.left(t, ch, "events", []task.Event{{Version: task.Version, Kind: task.ClaimedEvent,
		Worker: "w1", Sweep: "a-1", Index: 3, Attempt: 1}}, nil)
	if _, err := channel(t, s).QueueDeclarePassive("events", true, false, false, false,
		nil); err != nil {
		t.Errorf("the queue is gone: %v", err)
	}
	if err := ch.Close(); err != nil { // what it held goes back
		t.Fatal(err)
	}
	if d := <-events; d.Items[0].Index != 3 {
		t.Errorf("event %d came", d.Items[0].Index)
	}
	waitFor(t, "the queue is gone", func() bool {
		_, err := channel(t, s).QueueDeclarePassive("events", true, false, false, false, nil)
		return notFound(err)
	})
}

func notFound(err error) bool {
	said, ok := errors.AsType[*amqp091.Error](err)
	return ok && said.Code == amqp091.NotFound
}

// A worker that is started before its master, or with another one's credentials, says so and waits.
func TestAWorkerWaitsForItsMasterAndItsOwnUser(t *testing.T) {
	t.Parallel()
	s := &site{broker: shared.Get(t), vhost: shared.Vhost(t)}
	s.options = amqp.Options{URL: s.broker.URL[:len(s.broker.URL)-1] + "/" + s.vhost, Log: logTo(t)}
	p, err := amqp.NewWorkerEndpoint("w1", s.of(t, "w1"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	batches := p.Consume(t.Context())
	says := func(p *amqp.WorkerEndpoint, want string) {
		t.Helper()
		waitFor(t, "it says "+want, func() bool {
			return p.Status().Unreachable &&
				strings.Contains(p.Status().Reason, want)
		})
	}
	says(p, "the master has not made what is needed there")
	other := s.of(t, "w2")
	stranger, err := amqp.NewWorkerEndpoint("w1", other)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	says(stranger, "is that of user worker-w2; worker w1 needs its own, of user worker-w1")
	hub := openAt(t, s.broker, s.vhost)
	if err := hub.hub.Publish(t.Context(), "w1", batch(1)); err != nil {
		t.Fatal(err)
	}
	next(t, batches, 1)
}
