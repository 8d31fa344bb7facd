package amqp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"mlframework/internal/leaktest"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

func batch(n int) task.Batch {
	return task.Batch{Version: task.Version, Sweep: "a-1",
		Attempts: []task.Attempt{{Index: int64(n), Number: 1}}}
}

func publish(t *testing.T, s *site, n int) {
	t.Helper()
	if err := s.hub.Publish(t.Context(), "w1", batch(n)); err != nil {
		t.Fatalf("publish batch %d: %v", n, err)
	}
}

// next reads deliveries and acknowledges them, through faults, until batch n comes.
func next(t *testing.T, in <-chan queue.Delivery[task.Batch], n int) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case d := <-in:
			if err := d.Ack(); err != nil && !errors.Is(err, queue.ErrUnreachable) {
				t.Fatalf("acknowledge: %v", err)
			} else if err == nil && d.Items[0].Attempts[0].Index == int64(n) {
				return
			}
		case <-late:
			t.Fatalf("batch %d did not come in %v", n, patience)
		}
	}
}

func TestAQueueThatIsDeletedIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	publish(t, s, 0)
	s.broker.DeleteQueue(t, s.vhost, "tasks.w1") // nobody consumes
	publish(t, s, 1)
	in := p.Consume(t.Context())
	next(t, in, 1)
	for n := 2; n < 5; n++ {
		s.broker.DeleteQueue(t, s.vhost, "tasks.w1") // while it is consumed
		publish(t, s, n)
		next(t, in, n)
	}
	events := s.hub.Events(t.Context())
	s.broker.DeleteQueue(t, s.vhost, "events") // its master makes it again
	waitFor(t, "an event is sent", func() bool {
		return p.Emit(t.Context(), task.Event{Version: task.Version, Worker: "w1", Index: 7}) == nil
	})
	if d := <-events; d.Items[0].Index != 7 {
		t.Errorf("event %d came", d.Items[0].Index)
	}
}

// What cannot be read holds up nothing, and is counted where it was to be read.
func TestWhatCannotBeReadHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	put(t, s, "tasks.w1", "not a batch")
	put(t, s, "tasks.w1", `{"version":"?"}`)
	publish(t, s, 1)
	s.say(t, "w1", "events.w1", "not events")
	s.say(t, "w1", "heartbeats.w1", "no heartbeat")
	if err := p.Emit(t.Context(), task.Event{Version: task.Version, Worker: "w1",
		Index: 7}); err != nil {
		t.Fatal(err)
	}
	next(t, p.Consume(t.Context()), 1)
	if d := <-s.hub.Events(t.Context()); d.Items[0].Index != 7 || d.Ack() != nil {
		t.Errorf("event %d came", d.Items[0].Index)
	}
	beats := s.hub.Heartbeats(t.Context())
	if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Worker: "w1"}); err != nil {
		t.Fatal(err)
	}
	<-beats
	for at, n := range map[string]int64{"master": s.hub.Status().Refused,
		"worker": p.Status().Refused} {
		if n != 2 {
			t.Errorf("the %s counts %d; want 2", at, n)
		}
	}
}

// channel is a channel without this package, of a user who may do everything.
func channel(t *testing.T, s *site) *amqp091.Channel {
	t.Helper()
	return s.as(t, s.broker.Credentials)
}

// as is a channel without this package of the user with the credentials in a file.
func (s *site) as(t *testing.T, file string) *amqp091.Channel {
	t.Helper()
	ch, err := s.dial(t, file).Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func (s *site) dial(t *testing.T, file string) *amqp091.Connection {
	t.Helper()
	u := broker.In(s.broker.URL, s.vhost)
	c, err := amqp091.Dial(strings.Replace(u, "://", "://"+credentials(t, file)+"@", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// say publishes as a worker does, or somebody who has its password.
func (s *site) say(t *testing.T, worker, key, body string) {
	t.Helper()
	m := amqp091.Publishing{UserId: rights.WorkerUser(worker), Body: []byte(body)}
	if err := s.as(t, s.broker.Worker(t, s.vhost, worker)).Publish(rights.FromWorkers, key, false,
		false, m); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s *site, name, body string) {
	t.Helper()
	if err := channel(t, s).Publish("", name, false, false,
		amqp091.Publishing{Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
	// Another connection may be faster: what is put has to be there.
	ch := channel(t, s)
	waitFor(t, "the message is in its queue", func() bool {
		q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err == nil && q.Messages > 0
	})
}

func TestAFrozenConnectionIsNoticed(t *testing.T) {
	t.Parallel()
	s := open(t)
	in := s.port(t, "w1").Consume(t.Context())
	s.proxy.Stall()
	begin := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if err := s.hub.Publish(ctx, "w1", batch(0)); !errors.Is(err, queue.ErrUnreachable) ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v; want ErrUnreachable and the deadline", err)
	}
	s.reached(t, false)
	t.Logf("noticed after %v", time.Since(begin))
	s.proxy.Heal()
	s.reached(t, true)
	publish(t, s, 1)
	next(t, in, 1)
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	s := open(t)
	s.hub.Close() // only one master can use a broker
	for name, hinder := range map[string]func(){"reached": func() {}, "stalled": s.proxy.Stall,
		"cut": s.proxy.Cut} {
		t.Run(name, func(t *testing.T) {
			s.proxy.Heal()
			defer s.proxy.Heal()
			before := goleak.IgnoreCurrent()
			hub, err := amqp.NewMasterEndpoint(s.options)
			if err != nil {
				t.Fatal(err)
			}
			port, err := amqp.NewWorkerEndpoint("w1", s.of(t, "w1"))
			if err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the hub is reached", func() bool { return !hub.Status().Unreachable })
			amqp.DeclareWorkerQueues(hub, "w1")
			events, tasks, lines := hub.Events(t.Context()), port.Consume(t.Context()),
				hub.Lines(t.Context())
			waitFor(t, "both are there", func() bool {
				return !hub.Status().Unreachable &&
					!port.Status().Unreachable
			})
			hinder()
			hub.Close()
			hub.Close()
			port.Close()
			<-events // closed
			<-tasks
			<-lines
			<-hub.Events(t.Context())
			if err := hub.Publish(t.Context(), "w1", batch(0)); !errors.Is(err,
				queue.ErrUnreachable) {
				t.Errorf("after its end the error is %v; want ErrUnreachable", err)
			}
			s.proxy.Cut() // its goroutines are not what is looked for
			leaktest.Verify(t, before)
		})
	}
}
