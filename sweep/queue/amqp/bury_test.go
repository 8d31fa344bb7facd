package amqp_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Of what a worker sends that cannot be read, however long and however much it is, little stays,
// and it drives out nothing that others sent. The rest is counted.
func TestOneWorkersLettersLeaveThoseOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "w1")
	s.port(t, "w2")
	s.hub.Events(t.Context())
	s.say(t, "w2", "events.w2", "the letter of another")
	long := strings.Repeat("x", 1<<20+1)
	ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
	for n := range 301 {
		m := amqp091.Publishing{UserId: "worker-w1", Body: []byte(fmt.Sprint("unreadable ", n))}
		if n == 0 {
			m.Body = []byte(long)
		}
		if err := ch.Publish(rights.FromWorkers, "events.w1", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "all are counted", func() bool { return s.hub.Status().Refused == 302 })
	dead := s.dead(t, 101)
	if dead["the letter of another"].From != "events" {
		t.Error("the letter of another worker is gone")
	}
	l := dead[long[:queue.HeadBytes]]
	if want := fmt.Sprintf("its first 4096 bytes are kept; its SHA-256 is %x",
		sha256.Sum256([]byte(long))); l.Size != len(long) || !strings.Contains(l.Reason, want) {
		t.Errorf("of the long one there is %d bytes, %q; want %q", l.Size, l.Reason, want)
	}
	// It cannot be read again, and it is the same after many looks.
	if done, err := s.hub.Requeue(t.Context(), l.ID); err != nil ||
		done != (queue.Requeued{Left: 1}) {
		t.Errorf("requeued: %+v, %v", done, err)
	}
	for range 10 {
		if again := s.dead(t, 101)[long[:queue.HeadBytes]]; again.ID != l.ID ||
			again.Reason != l.Reason || again.Size != l.Size {
			t.Fatalf("then it is %+v; it was %+v", again, l)
		}
	}
	// When a person has dropped them there is room again.
	if _, err := s.hub.Drop(t.Context(), queue.AllLetters); err != nil {
		t.Fatal(err)
	}
	s.say(t, "w1", "events.w1", "one more")
	s.dead(t, 1)
}

// What a worker reports that it could not read is bounded likewise, also where it reports without
// being asked.
func TestOneWorkersReportsLeaveLettersOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "w1")
	p := s.port(t, "w2")
	put(t, s, "tasks.w2", "not a batch")
	p.Consume(t.Context())
	s.dead(t, 1)
	ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
	m := amqp091.Publishing{UserId: "worker-w1", Headers: amqp091.Table{"from": "tasks.w1",
		"reason": "x"}, Body: make([]byte, 16<<10)}
	for range 300 {
		if err := ch.Publish(rights.FromWorkers, "dead.w1", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the rest is counted", func() bool { return s.hub.Status().Refused == 200 })
	all, err := s.hub.Dead(t.Context(), 1000)
	size := 0
	for _, l := range all.Letters {
		size += len(l.Head)
		if l.From == "tasks.w2" && string(l.Head) == "not a batch" {
			size = -1 << 20
		}
	}
	if err != nil || all.Count != 101 || size >= 0 {
		t.Errorf("%d letters are dead, %v; want 100 of w1 and that of w2", all.Count, err)
	}
}

// A batch that is too long for a message comes in parts.
func TestALongBatchIsDivided(t *testing.T) {
	t.Parallel()
	s := open(t)
	in := s.port(t, "w1").Consume(t.Context())
	b := batch(0)
	b.Attempts = nil
	for n := range 7 {
		b.Attempts = append(b.Attempts, task.Attempt{Index: int64(n), Number: 1,
			Args: []string{strings.Repeat("x", 1<<20)}})
	}
	if err := s.hub.Publish(t.Context(), "w1", b); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 7; {
		d := <-in
		for _, a := range d.Items[0].Attempts {
			if a.Index != int64(n) {
				t.Fatalf("attempt %d came; want %d", a.Index, n)
			}
			n++
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	b.Attempts[0].Args[0] = strings.Repeat("x", 2<<20)
	if err := s.hub.Publish(t.Context(), "w1", b); err == nil || !strings.Contains(err.Error(),
		"at most 2097152 can be sent") {
		t.Errorf("one that cannot be divided: %v", err)
	}
}

// With the limit of its configuration the broker takes no message that nobody reads.
func TestTheBrokerTakesNoLongMessage(t *testing.T) {
	t.Parallel()
	s := open(t)
	for bytes, taken := range map[int]bool{rights.LongestMessage: true, rights.LongestMessage +
		1: false} {
		ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
		if err := ch.Confirm(false); err != nil {
			t.Fatal(err)
		}
		m := amqp091.Publishing{UserId: "worker-w1", Body: make([]byte, bytes)}
		c, err := ch.PublishWithDeferredConfirm(rights.FromWorkers, rights.Events.Key("w1"),
			false, false, m)
		if err != nil || c.Wait() != taken {
			t.Errorf("%d bytes: taken %v, %v", bytes, !taken, err)
		}
	}
}
