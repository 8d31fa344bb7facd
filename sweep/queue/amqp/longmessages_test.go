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

// However many messages a worker sends that cannot be read, and however long they are, they hold up
// nothing that others send, and the log has few lines of them, with size and hash.
func TestManyRefusedMessagesAreFewLines(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "w1")
	other := s.port(t, "w2")
	events := s.hub.Events(t.Context())
	long := []byte(strings.Repeat("x", 1<<20+1))
	ch := s.as(t, s.broker.Worker(t, s.vhost, "w1"))
	for n := range 301 {
		m := amqp091.Publishing{UserId: "worker-w1", Body: []byte(fmt.Sprint("unreadable ", n))}
		if n == 0 {
			m.Body = long
		}
		if err := ch.Publish(rights.FromWorkers, "events.w1", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Emit(t.Context(), task.Event{Version: task.Version, Worker: "w2",
		Index: 7}); err != nil {
		t.Fatal(err)
	}
	if d := <-events; d.Items[0].Index != 7 || d.Ack() != nil {
		t.Errorf("%+v came", d.Items)
	}
	waitFor(t, "all are counted", func() bool { return s.hub.Status().Refused == 301 })
	hash := fmt.Sprintf("%x", sha256.Sum256(long))
	want := fmt.Sprintf("queue=events user=worker-w1 key=events.w1 bytes=%d sha256=%s cause=",
		len(long), hash[:16])
	if said := s.said.String(); strings.Count(said, "a message is refused") != 1 ||
		!strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
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
