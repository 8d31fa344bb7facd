package amqp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// operation is something that a user tries on the broker, on a name of a queue or exchange, or with
// a key.
type operation struct {
	name string
	do   func(ch *amqp091.Channel, name string) error
}

var operations = []operation{
	{"declare", func(ch *amqp091.Channel, name string) error {
		_, err := ch.QueueDeclare(name, true, false, false, false,
			amqp091.Table{"x-queue-type": "quorum"})
		return err
	}},
	{"declare exchange", func(ch *amqp091.Channel, name string) error {
		return ch.ExchangeDeclare(name, "topic", true, false, false, false, nil)
	}},
	{"bind", func(ch *amqp091.Channel, name string) error {
		return ch.QueueBind(name, "events.#", rights.FromWorkers, false, nil)
	}},
	{"bind exchange", func(ch *amqp091.Channel, name string) error {
		return ch.ExchangeBind(rights.FromWorkers, "#", name, false, nil)
	}},
	{"consume", func(ch *amqp091.Channel, name string) error {
		_, err := ch.Consume(name, "", false, false, false, false, nil)
		return err
	}},
	{"get", func(ch *amqp091.Channel, name string) error {
		_, _, err := ch.Get(name, false)
		return err
	}},
	{"purge", func(ch *amqp091.Channel, name string) error {
		_, err := ch.QueuePurge(name, false)
		return err
	}},
	{"publish to queue", func(ch *amqp091.Channel,
		name string) error {
		return published(ch, "", name, "")
	}},
	{"publish", func(ch *amqp091.Channel, name string) error {
		return published(ch,
			rights.FromWorkers, name, "")
	}},
	{"delete", func(ch *amqp091.Channel, name string) error {
		_, err := ch.QueueDelete(name, false, false, false)
		return err
	}},
	{"delete exchange", func(ch *amqp091.Channel,
		name string) error {
		return ch.ExchangeDelete(name, false, false)
	}},
}

// published publishes and waits until the broker has said what it thinks of it.
func published(ch *amqp091.Channel, exchange, key, user string) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	gone := ch.NotifyClose(make(chan *amqp091.Error, 1))
	c, err := ch.PublishWithDeferredConfirm(exchange, key, false, false,
		amqp091.Publishing{UserId: user, Body: []byte("x")})
	if err != nil {
		return err
	}
	<-c.Done() // it is also when the broker closes the channel
	if c.Acked() {
		return nil
	}
	return <-gone
}

// try does something on a channel of its own.
func try(t *testing.T, c *amqp091.Connection, op operation, name string) error {
	t.Helper()
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close() // the broker may have closed it
	return op.do(ch, name)
}

// The master reaches what belongs to its cluster, and nothing else on the broker.
func TestTheMasterStaysInItsCluster(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "a")
	c := s.dial(t, s.broker.Master(t, s.vhost))
	for _, op := range operations {
		for _, name := range []string{"amq.topic", "other", "a", "tasks", "events2"} {
			if err := try(t, c, op, name); err == nil && op.name != "publish to queue" ||
				refusedTo(err) != (op.name != "publish to queue") {
				t.Errorf("%s %q: %v", op.name, name, err)
			}
		}
	}
	for _, op := range []string{"declare", "bind", "get", "purge", "publish to queue", "delete"} {
		at := slices.IndexFunc(operations, func(o operation) bool { return o.name == op })
		for _, name := range masters {
			if err := try(t, c, operations[at], name); refusedTo(err) {
				t.Errorf("%s %q: %v", op, name, err)
			}
		}
	}
}

// refusedTo reports whether the broker refused something for want of a right.
func refusedTo(err error) bool {
	said, ok := errors.AsType[*amqp091.Error](err)
	return ok && said.Code == amqp091.AccessRefused
}

// May says which operations on which names a user may carry out; all others fail.
var may = map[string]map[string][]string{
	"worker-a": {
		"consume": {"tasks.a", "control.a"}, "get": {"tasks.a", "control.a"},
		"purge":   {"tasks.a", "control.a"},
		"publish": {"events.a", "heartbeats.a", "lines.a", "pieces.a"},
	},
	"worker-a.b": {
		"consume": {"tasks.a.b", "control.a.b"}, "get": {"tasks.a.b", "control.a.b"},
		"purge":   {"tasks.a.b", "control.a.b"},
		"publish": {"events.a.b", "heartbeats.a.b", "lines.a.b", "pieces.a.b"},
	},
	"nobody": {}, // without rights
}

var (
	masters = []string{"tasks.a", "control.a", "tasks.a.b", "control.a.b", "events",
		"heartbeats"}
	all = append([]string{"amq.topic", "other", "from-workers",
		"events.a", "events.a.b", "heartbeats.a", "lines.a", "pieces.a", "heartbeats.a.b",
		"lines.a.b", "pieces.a.b", "dead.a", "events.c", "#", "a", ""}, masters...)
)

// Each user tries every operation on every name, against a broker that has what a cluster has.
func TestWhatEachUserMayDo(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, name := range []string{"a", "a.b"} {
		s.port(t, name)
	}
	s.broker.MakeUser(t, s.vhost, "nobody", `^$`)
	for user, allowed := range may {
		t.Run(user, func(t *testing.T) {
			c := s.dial(t, s.broker.File(user))
			for _, op := range operations {
				for _, name := range all {
					if name == "" && op.name != "publish" {
						continue // the broker would make up a name
					}
					err := try(t, c, op, name)
					if want := slices.Contains(allowed[op.name], name); want != (err == nil) {
						t.Errorf("%s %q: %v; may it: %v", op.name, name, err, want)
					}
				}
			}
		})
	}
}

// A worker cannot send as somebody else, whatever key it uses.
func TestNobodySendsAsAnother(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "a")
	for _, user := range []string{"master", "worker-a.b", "nobody"} {
		ch := s.as(t, s.broker.Worker(t, s.vhost, "a"))
		if err := published(ch, rights.FromWorkers, "events.a", user); err == nil {
			t.Errorf("worker a sent as %s", user)
		}
	}
	if err := published(s.as(t, s.broker.Worker(t, s.vhost, "a")), rights.FromWorkers, "events.a",
		"worker-a"); err != nil {
		t.Error(err)
	}
}

// What names another worker than the one whose user sent it changes nothing.
func TestForgedMessagesAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w1")
	s.port(t, "w2")
	events, beats, pieces := s.hub.Events(t.Context()), s.hub.Heartbeats(t.Context()), s.hub.Pieces(t.Context())
	waitFor(t, "pieces come", func() bool {
		_ = p.SendPiece(t.Context(), task.Piece{Version: task.Version, ID: "probe", Worker: "w1"})
		select {
		case <-pieces:
			return true
		default:
			return false
		}
	})
	names := make(chan string, 100)
	go func() { // until the test ends
		for h := range beats {
			names <- h.Worker
		}
	}()
	for range 8 { // until its own queue of heartbeats is known to be there
		if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Worker: "w1"}); err != nil {
			t.Fatal(err)
		}
		<-names
	}
	go func() { // until the test ends
		for range pieces {
		}
	}()
	forged := map[string]string{ // key by what is said
		`[{"version":11,"kind":"ended","worker":"w2","sweep":"a-1","index":0,"attempt":1}]`:                               "events.w1",
		`{"version":11,"worker":"w2","incarnation":"9","host":"h","slots":1}`:                                             "heartbeats.w1",
		`{"version":11,"worker":"w2","id":"1"}`:                                                                           "pieces.w1",
		`[{"version":11,"kind":"joined","worker":"w1","beat":{"version":11,"worker":"w2","host":"h","incarnation":"9"}}]`: "events.w1",
	}
	for body, key := range forged {
		s.say(t, "w1", key, body)
	}
	anonymous := `[{"version":11,"kind":"ended","worker":"w1","sweep":"a-1","index":1,"attempt":1}]`
	if err := s.as(t, s.broker.Worker(t, s.vhost, "w1")).Publish(rights.FromWorkers, "events.w1",
		false, false, amqp091.Publishing{Body: []byte(anonymous)}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "all are refused", func() bool {
		return s.hub.Status().Refused == int64(len(forged)+1)
	})
	if said := s.said.String(); strings.Count(said, // in each of the three queues
		`cause="it names worker \"w2\" and is from worker w1"`) != 3 {
		t.Errorf("it says\n%s", said)
	}
	if err := p.Emit(t.Context(), task.Event{Version: task.Version, Worker: "w1",
		Index: 7}); err != nil {
		t.Fatal(err)
	}
	if d := <-events; len(d.Items) != 1 || d.Items[0].Index != 7 {
		t.Errorf("what came is %+v", d.Items)
	}
	for range 8 { // some of those before may have come twice
		if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Worker: "w1"}); err != nil {
			t.Fatal(err)
		}
		if name := <-names; name != "w1" {
			t.Errorf("a heartbeat of %q came", name)
		}
	}
}
