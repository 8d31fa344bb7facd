package amqp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// flood publishes a message as a worker so often, and reports whether the broker took the last one.
func (s *site) flood(t *testing.T, worker string, kind rights.MessageKind, v any,
	times int) (taken bool) {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	ch := s.as(t, s.broker.Worker(t, s.vhost, worker))
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	var confirm *amqp091.DeferredConfirmation
	for range times {
		m := amqp091.Publishing{UserId: rights.WorkerUser(worker), Body: body}
		if confirm, err = ch.PublishWithDeferredConfirm(rights.FromWorkers, kind.RoutingKey(worker),
			false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	return confirm.Wait()
}

// However many and large the heartbeats of one worker are, and however slow the master: those of
// others come.
func TestHeartbeatsOfOneWorkerLeaveThoseOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	beats := s.hub.Heartbeats(t.Context())
	for _, name := range []string{"w1", "w2"} { // both are known
		p := s.port(t, name)
		waitFor(t, "it is heard", func() bool {
			if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Worker: name}); err != nil {
				return false
			}
			return (<-beats).Worker == name
		})
	}
	large := task.Heartbeat{Worker: "w1", Running: make([]task.Busy, 4000)}
	for i := range large.Running {
		large.Running[i] = task.Busy{Sweep: "run_training-1", Index: 1 << 40, Attempt: 1, Slot: i}
	}
	s.flood(t, "w1", rights.Heartbeats, large, 100)
	s.flood(t, "w2", rights.Heartbeats, task.Heartbeat{Worker: "w2", Slots: 7}, 1)
	s.flood(t, "w1", rights.Heartbeats, large, 60)
	waitFor(t, "the heartbeat of the other comes", func() bool {
		select {
		case h := <-beats:
			return h.Worker == "w2" && h.Slots == 7
		default:
			return false
		}
	})
}

// Live output of one worker that nobody reads leaves room for that of others.
func TestLinesOfOneWorkerLeaveThoseOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.port(t, "w1")
	p := s.port(t, "w2")
	lines := s.hub.Lines(t.Context())
	waitFor(t, "a line comes", func() bool {
		p.OfferLine(task.Line{Sweep: "a-1"})
		select {
		case <-lines:
			return true
		default:
			return false
		}
	})
	s.drainLines(lines)
	// the last of them fill what the first leave
	for _, bytes := range []int{60 << 10, 4 << 10, 100} {
		if s.flood(t, "w1", rights.Lines, []task.Line{{Sweep: "a-1", Text: strings.Repeat("x",
			bytes)}}, 600) && bytes > 100 {
			t.Error("there is no bound")
		}
	}
	if !s.flood(t, "w2", rights.Lines, []task.Line{{Sweep: "a-1", Text: "of another"}}, 1) {
		t.Error("there is no room for the line of another worker")
	}
}

// A worker that is forgotten has no queue any more, and has one when it is heard again.
func TestAWorkerThatIsForgottenIsHeardAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	p, beats := s.port(t, "w1"), s.hub.Heartbeats(t.Context())
	for n := range 3 {
		waitFor(t, "it is heard", func() bool {
			if err := p.SendHeartbeat(t.Context(),
				task.Heartbeat{Worker: "w1", Slots: n}); err != nil {
				return false
			}
			select {
			case h := <-beats:
				return h.Slots == n
			default:
				return false
			}
		})
		if err := s.hub.RemoveWorker(t.Context(), "w1"); err != nil {
			t.Fatal(err)
		}
	}
}
