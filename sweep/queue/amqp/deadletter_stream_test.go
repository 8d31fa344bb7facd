package amqp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// collected are the dead letters that a master has taken, by how they begin. The zero value is
// ready.
type collected struct {
	mu    sync.Mutex
	begun bool
	all   map[string]task.DeadLetter
	count int
}

func (c *collected) add(all ...task.DeadLetter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]task.DeadLetter{}
	}
	for _, l := range all {
		c.count++
		c.all[string(l.Body[:min(len(l.Body), 512)])] = l
	}
}

// begin has dead letters taken and acknowledged until the endpoint is closed.
func (c *collected) begin(h *amqp.MasterEndpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return
	}
	c.begun = true
	go func() {
		for d := range h.DeadLetters(context.Background()) {
			if d.Ack() == nil {
				c.add(d.Items...)
			}
		}
	}()
}

// dead waits until so many dead letters were taken, and returns them by how they begin.
func (s *site) dead(t *testing.T, n int) map[string]task.DeadLetter {
	t.Helper()
	s.collected.begin(s.hub)
	c := &s.collected
	waitFor(t, "messages are dead", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.count >= n
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count != n {
		t.Errorf("%d messages are dead; want %d: %+v", c.count, n, c.all)
	}
	all := map[string]task.DeadLetter{}
	for body, l := range c.all {
		all[body] = l
	}
	return all
}

// events reads events, and takes those that cannot be read.
func (s *site) events(t *testing.T) <-chan queue.Delivery[task.Event] {
	t.Helper()
	ctx, out := t.Context(), make(chan queue.Delivery[task.Event])
	go func() {
		defer close(out)
		for d := range s.hub.Events(ctx) {
			if len(d.Items) == 0 && d.Ack() != nil {
				continue
			}
			s.collected.add(d.Unreadable...)
			if len(d.Items) == 0 {
				continue
			}
			select {
			case out <- d:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// addDead puts a dead letter of worker w1 to the broker by hand.
func (s *site) addDead(t *testing.T, from string, body []byte, reason string) {
	t.Helper()
	ch := s.as(t, s.broker.Master(t, s.vhost))
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	m := amqp091.Publishing{UserId: "master", Body: body, Headers: amqp091.Table{
		"from": from, "reason": reason, "time": time.Now().UTC().Format(time.RFC3339Nano),
		"user": "worker-w1", "key": "events.w1"}}
	c, err := ch.PublishWithDeferredConfirm("", rights.DeadQueue, false, false, m)
	if err != nil || !c.Wait() {
		t.Fatalf("add a dead letter: %v", err)
	}
}

func (s *site) requeue(t *testing.T, l task.DeadLetter, want bool) {
	t.Helper()
	if got, err := s.hub.Requeue(t.Context(), &l); err != nil || got != want {
		t.Errorf("requeued: %v, %v; want %v", got, err, want)
	}
}

// What a broker gives up on by itself is a dead letter, if a policy says so, and can be requeued.
func TestWhatTheBrokerGivesUpIsADeadLetter(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.broker.SetPolicy(t, s.vhost, "^tasks[.]",
		`{"delivery-limit":2,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`)
	s.port(t, "w1")
	publish(t, s, 1)
	ch := channel(t, s)
	for range 3 {
		waitFor(t, "it comes", func() bool {
			d, there, err := ch.Get("tasks.w1", false)
			return err == nil && there && d.Nack(false, true) == nil
		})
	}
	for _, l := range s.dead(t, 1) {
		if l.Queue != "tasks.w1" || l.Reason != "the broker put it aside: delivery limit" ||
			l.Time.IsZero() || l.Worker != "w1" ||
			!strings.Contains(string(l.Body), `"sweep":"a-1"`) {
			t.Errorf("it is %+v", l)
		}
		s.requeue(t, l, true)
	}
	next(t, s.port(t, "w1").Consume(t.Context()), 1)
}

// Both queues of dead letters on the broker are one for who asks what waits.
func TestTheDepthOfDeadLettersHasWhatWorkersCouldNotRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	s.addDead(t, "tasks.w1", []byte("old"), "a master reported it")
	put(t, s, "tasks.w1", "not a batch")
	p.Consume(t.Context())
	waitFor(t, "both dead letters are counted", func() bool {
		all, err := s.hub.Depths(t.Context(), "w1")
		dead := slices.IndexFunc(all, func(d queue.Depth) bool { return d.Queue == "dead" })
		return err == nil && dead >= 0 && all[dead].Messages == 2 && *all[dead].Consumers == 0
	})
}

// What a worker has the broker put aside counts for this worker, and of what it sent only the
// beginning is kept: what expires among its events, and what it rejects. Without a user it counts
// for nobody else, whatever key it makes up, and a person who requeues it has nobody believe it.
func TestWhatAWorkerHasPutAsideIsItsOwn(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.broker.SetPolicy(t, s.vhost, "^(tasks[.].+|events)$",
		`{"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`)
	s.port(t, "evil")
	ch := s.as(t, s.broker.Worker(t, s.vhost, "evil"))
	const size = 5000
	long := func(begin string) []byte {
		return []byte(begin + strings.Repeat(" ", size-len(begin)))
	}
	forged := []byte(
		`[{"version":1,"kind":"ended","worker":"w2","sweep":"a-1","index":0,"attempt":1}]`)
	ofW2 := amqp091.Table{"x-death": []any{amqp091.Table{"queue": "events",
		"reason": "expired", "count": int64(1), "exchange": rights.FromWorkers,
		"routing-keys": []any{"events.w2"}}}}
	for _, m := range []amqp091.Publishing{
		{UserId: "worker-evil", Body: long("expired")},
		{Body: long("anonymous")},
		{Headers: ofW2, Body: forged},
	} {
		m.Expiration = "0"
		if err := ch.Publish(rights.FromWorkers, "events.evil", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "tasks.evil", string(long("rejected")))
	waitFor(t, "it comes", func() bool {
		d, there, err := ch.Get("tasks.evil", false)
		return err == nil && there && d.Nack(false, false) == nil
	})
	want := map[string]task.DeadLetter{
		"expired":   {Worker: "evil", Size: size, Body: make([]byte, 4<<10)},
		"anonymous": {Worker: "-", Size: size, Body: make([]byte, 4<<10)},
		"rejected":  {Worker: "evil", Size: size, Body: make([]byte, size)}, // the master's own
		"forged":    {Worker: "-", Size: len(forged), Body: forged},
	}
	for _, l := range s.dead(t, 4) {
		name := strings.TrimSpace(string(l.Body))
		if name == string(forged) {
			name = "forged"
			s.requeue(t, l, true)
		}
		w := want[name]
		if l.Worker != w.Worker || l.Size != w.Size || len(l.Body) != len(w.Body) ||
			strings.Contains(l.Reason, "SHA-256") != (len(w.Body) < w.Size) {
			t.Errorf("%s: worker %q, %d of %d bytes, %s", name, l.Worker, len(l.Body), l.Size,
				l.Reason)
		}
	}
	s.events(t)
	waitFor(t, "what was requeued is dead again", func() bool {
		s.collected.mu.Lock()
		defer s.collected.mu.Unlock()
		return strings.HasSuffix(s.collected.all[string(forged)].Reason,
			"and not the user that sent it")
	})
}

// When a message died a worker says: that is no time to come, and one that JSON can say.
func TestTheTimeOfADeadLetterIsBelievable(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "evil")
	ch := s.as(t, s.broker.Worker(t, s.vhost, "evil"))
	for _, at := range []string{"9999-12-31T23:59:59-23:00", "0000-01-01T00:00:00+23:00",
		"2026-01-02T03:04:05Z"} {
		m := amqp091.Publishing{UserId: "worker-evil", Body: []byte(at), Headers: amqp091.Table{
			"from": "tasks.evil", "reason": "x", "time": at}}
		if err := ch.Publish(rights.FromWorkers, "dead.evil", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	for at, l := range s.dead(t, 3) {
		_, err := json.Marshal(l.Time)
		past := strings.HasPrefix(at, "2026")
		if err != nil || l.Time.After(time.Now()) || past != (l.Time.Format(time.RFC3339) == at) {
			t.Errorf("%s became %v: %v", at, l.Time, err)
		}
	}
}

// A worker acknowledges a message that it cannot read only when the master will get it.
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
	s.collected.begin(s.hub)
	waitFor(t, "it is dead", func() bool {
		s.collected.mu.Lock()
		defer s.collected.mu.Unlock()
		return s.collected.all["not a batch"].Queue == "tasks.w1"
	})
}

// A dead letter that was not acknowledged has the same ID when it is delivered again: one
// written by hand, one that a worker reported, and an event that cannot be read.
func TestADeadLetterHasOneID(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	s.addDead(t, "events", []byte("[]"), "too often")
	put(t, s, "tasks.w1", "not a batch")
	p.Consume(t.Context())
	s.say(t, "w1", "events.w1", "not events")
	take := func() map[string]string {
		ctx, stop := context.WithCancel(t.Context())
		ids := map[string]string{}
		dead, events := s.hub.DeadLetters(ctx), s.hub.Events(ctx)
		for len(ids) < 3 {
			var all []task.DeadLetter
			select {
			case d := <-dead:
				all = d.Items
			case d := <-events:
				all = d.Unreadable
			}
			for _, l := range all {
				ids[string(l.Body)] = l.ID
			}
		}
		stop()
		for range dead {
		}
		for range events {
		}
		return ids
	}
	first := take()
	for body, id := range take() {
		if first[body] != id || id == "" {
			t.Errorf("%s has the ID %q, and had %q", body, id, first[body])
		}
	}
}
