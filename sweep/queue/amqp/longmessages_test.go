package amqp_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Of what a worker sends that cannot be read, however long it is, little is delivered, with the
// size and the hash of the whole, and it holds up nothing that others sent.
func TestOfALongMessageTheBeginningIsADeadLetter(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "w1")
	s.port(t, "w2")
	s.events(t)
	s.say(t, "w2", "events.w2", "that of another")
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
	dead := s.dead(t, 302)
	if l := dead["that of another"]; l.Queue != "events" || l.Worker != "w2" {
		t.Errorf("that of another worker is %+v", l)
	}
	l := dead[long[:512]]
	want := fmt.Sprintf("its first 4096 bytes are kept; its SHA-256 is %x",
		sha256.Sum256([]byte(long)))
	if l.Size != len(long) || !strings.Contains(l.Reason, want) || l.Worker != "w1" ||
		len(l.Body) != 4096 {
		t.Errorf("of the long one there is %d bytes of %q, %q; want %q", l.Size, l.Worker, l.Reason,
			want)
	}
	s.requeue(t, l, false)
	if n := s.hub.Status().Refused; n != 302 {
		t.Errorf("%d are counted", n)
	}
}

// What a worker reports that it could not read is cut likewise, also where it reports without being
// asked.
func TestOfALongReportTheBeginningIsADeadLetter(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.port(t, "w2")
	put(t, s, "tasks.w2", "not a batch")
	p.Consume(t.Context())
	s.dead(t, 1)
	ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
	m := amqp091.Publishing{UserId: "worker-w1", Headers: amqp091.Table{"from": "tasks.w1",
		"reason": strings.Repeat("x", 1<<16)}, Body: make([]byte, 16<<10)}
	for range 300 {
		if err := ch.Publish(rights.FromWorkers, "dead.w1", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	m.UserId = "" // whoever says no user is bounded, too
	if err := ch.Publish(rights.FromWorkers, "dead.w1", false, false, m); err != nil {
		t.Fatal(err)
	}
	dead := s.dead(t, 302)
	l := dead[string(m.Body[:512])]
	if len(l.Body) != 4096 || l.Size != 16<<10 || len(l.Reason) > 2<<10 || l.Worker != "w1" {
		t.Errorf("%d bytes of %d are kept of %q, %d of the reason", len(l.Body), l.Size, l.Worker,
			len(l.Reason))
	}
	if l := dead["not a batch"]; l.Queue != "tasks.w2" || l.Worker != "w2" {
		t.Errorf("that of another worker is %+v", l)
	}
	if n := s.hub.Status().Refused; n != 302 {
		t.Errorf("%d are counted", n)
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
	for bytes, taken := range map[int]bool{rights.MaxMessageBytes: true, rights.MaxMessageBytes +
		1: false} {
		ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
		if err := ch.Confirm(false); err != nil {
			t.Fatal(err)
		}
		m := amqp091.Publishing{UserId: "worker-w1", Body: make([]byte, bytes)}
		c, err := ch.PublishWithDeferredConfirm(rights.FromWorkers, rights.Events.RoutingKey("w1"),
			false, false, m)
		if err != nil || c.Wait() != taken {
			t.Errorf("%d bytes: taken %v, %v", bytes, !taken, err)
		}
	}
}

// An attempt that is too long for a message keeps back no other.
func TestATooLongAttemptKeepsBackNoOther(t *testing.T) {
	t.Parallel()
	s := open(t)
	batches := s.port(t, "w1").Consume(t.Context())
	b := task.Batch{Version: task.Version, Sweep: "a-1"}
	for n := range 5 {
		b.Attempts = append(b.Attempts, task.Attempt{Index: int64(n), Number: 1})
	}
	b.Attempts[2].Args = []string{strings.Repeat("x", rights.MaxMessageBytes)}
	var err error
	for end := time.Now().Add(patience); ; {
		err = s.hub.Publish(t.Context(), "w1", b, b)
		if !errors.Is(err, queue.ErrUnreachable) || time.Now().After(end) {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "task a-1/2") {
		t.Errorf("the error is %v", err)
	}
	var came []int64
	for late := time.After(patience); len(came) < 8; {
		select {
		case d := <-batches:
			for _, a := range d.Items[0].Attempts {
				came = append(came, a.Index)
			}
			if err := d.Ack(); err != nil {
				t.Error(err)
			}
		case <-late:
			t.Fatalf("tasks %v came", came)
		}
	}
	if want := []int64{0, 1, 3, 4, 0, 1, 3, 4}; !slices.Equal(came, want) {
		t.Errorf("tasks %v came, want %v", came, want)
	}
}
