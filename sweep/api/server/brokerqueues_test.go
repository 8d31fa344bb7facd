package server_test

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api/server"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// The broker is shown with its queues and how many messages were refused, as in the metrics.
func TestBrokerQueues(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 1, hold)
	s.must(s.queue.Worker("w1").Emit(t.Context(), task.Event{Version: task.Version,
		Kind: task.EndedEvent, Worker: "w2", Sweep: "train-1"}))
	s.until("w1 is known", func() bool {
		b, err := s.client.BrokerQueues(t.Context())
		s.must(err)
		return len(b.Queues) == 3
	})
	b, err := s.client.BrokerQueues(t.Context())
	s.must(err)
	b.Queues[2].Messages = 0 // the worker's heartbeats come all the time
	want := []queue.Depth{{Queue: "tasks.w1"}, {Queue: "events"}, {Queue: "heartbeats"}}
	if diff := cmp.Diff(want, b.Queues); diff != "" {
		t.Error(diff)
	}
	counted := value(valued(t, s.scraped(), "mlframework_refused_messages_total"))
	if b.Refused == nil || *b.Refused != 1 || counted != 1 {
		t.Errorf("%v are refused, and %v in the metrics; want 1", b.Refused, counted)
	}
	s.queue.Outage(true)
	if b, err = s.client.BrokerQueues(t.Context()); err != nil || !b.Unreachable || b.Queues != nil {
		t.Errorf("in an outage: %+v, %v", b, err)
	}
}

// An answer that cannot be written is no success.
func TestAnAnswerThatJSONCannotSay(t *testing.T) {
	t.Parallel()
	got := httptest.NewRecorder()
	server.Answer(got, map[string]any{"a": 1, "value": math.Inf(1)})
	want := `{"error":"write the answer: json: unsupported value: +Inf"}`
	if text := strings.TrimSpace(got.Body.String()); got.Code != 500 || text != want {
		t.Errorf("%d %q", got.Code, text)
	}
}
