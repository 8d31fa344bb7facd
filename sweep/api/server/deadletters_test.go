package server_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// dead waits until the master has kept so many dead letters.
func (s *site) dead(n int) {
	s.t.Helper()
	s.until("they are dead", func() bool {
		all, err := s.client.Dead(s.t.Context(), 0)
		s.must(err)
		return all.Count == n
	})
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, c := t.Context(), s.client
	s.hire("w1", 1, hold)
	s.until("w1 is known", func() bool {
		b, err := c.BrokerQueues(ctx)
		s.must(err)
		return len(b.Queues) == 4
	})
	s.queue.AddDeadLetter("tasks.w1", []byte("\x1b[31m\xff"+strings.Repeat("x", 1000)), "one\ntwo")
	s.dead(1)
	s.queue.AddDeadLetter("tasks.w2", []byte("{}"), "gone")
	s.dead(2)
	all, err := c.Dead(ctx, 0)
	s.must(err)
	if all.Count != 2 || len(all.Entries) != 2 {
		t.Fatalf("%+v", all)
	}
	l := all.Entries[1]
	if l.From != "tasks.w1" || l.Reason != `one\ntwo` || l.Bytes != 1006 || l.Time == nil ||
		!strings.HasPrefix(l.Preview, `\x1b[31m\xffxxx`) ||
		len(l.Preview) > 600 {
		t.Errorf("%+v", l)
	}
	if one, err := c.Dead(ctx, 1); err != nil || one.Count != 2 || len(one.Entries) != 1 ||
		one.Entries[0].From != "tasks.w2" {
		t.Errorf("%+v, %v", one, err)
	}
	b, err := c.Requeue(ctx, api.AllDeadLetters) // what still cannot be read comes back
	if want := (api.DeadLetterOutcome{Requeued: 1, Remaining: 1}); err != nil || b != want {
		t.Errorf("requeued: %+v, %v", b, err)
	}
	s.dead(2)
	all, err = c.Dead(ctx, 0)
	s.must(err)
	id := all.Entries[0].ID
	status, text, _ := s.raw("DELETE", "/v1/broker/dead/"+id, "", "Idempotency-Key", "d-1")
	got := parse[api.DeadLetterOutcome](t, text)
	if status != http.StatusOK || got.Dropped != 1 {
		t.Errorf("drop: %d %s", status, text)
	}
	status, text, _ = s.raw("DELETE", "/v1/broker/dead/"+id, "", "Idempotency-Key", "d-1")
	if want := `{"error":"there is no dead letter ` + id +
		`","remedy":"run-tasks broker dead lists them"}`; status != http.StatusNotFound ||
		text != want {
		t.Errorf("once more: %d %s", status, text)
	}
	if b, err = c.Drop(ctx, api.AllDeadLetters); err != nil || b.Dropped != 1 {
		t.Errorf("dropped: %+v, %v", b, err)
	}
	page, err := c.Audit(ctx, api.AuditQuery{Limit: 1})
	kept := done(page.Actions)
	if err != nil || !slices.Equal(kept, []string{"ann drop letter done"}) {
		t.Errorf("the audit has %q, %v", kept, err)
	}
	broker, err := c.BrokerQueues(ctx)
	s.must(err)
	broker.Queues[2].Messages = 0 // the worker's heartbeats come all the time
	want := []queue.Depth{{Queue: "tasks.w1"}, {Queue: "events"}, {Queue: "heartbeats"},
		{Queue: "dead"}}
	if diff := cmp.Diff(want, broker.Queues); diff != "" {
		t.Error(diff)
	}
	s.queue.AddDeadLetter("events", []byte("[]"), "why")
	s.dead(1)
	s.queue.Outage(true)
	if status, _, _ := s.raw("POST", "/v1/broker/dead/requeue",
		""); status != http.StatusServiceUnavailable {
		t.Errorf("in an outage: %d", status)
	}
	if broker, err = c.BrokerQueues(ctx); err != nil || !broker.Unreachable ||
		broker.Queues != nil {
		t.Errorf("in an outage: %+v, %v", broker, err)
	}
}

// What a worker says of the time of its dead letters hides no others.
func TestDeadLettersAreListedAsTheyCame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	far, err := time.Parse(time.RFC3339Nano, "9999-12-31T23:59:59-23:00") // JSON cannot say it
	s.must(err)
	for i := range 20 {
		s.must(s.store.AddDeadLetters(t.Context(), []task.DeadLetter{{ID: fmt.Sprint("e", i),
			Queue: "tasks.evil", Worker: "evil", Reason: "x", Time: far}}))
	}
	s.queue.AddDeadLetter("tasks.w2", []byte("{}"), "honest")
	s.dead(21)
	all, err := s.client.Dead(t.Context(), 0)
	s.must(err)
	if first := all.Entries[0]; first.From != "tasks.w2" || all.Entries[1].Time != nil {
		t.Errorf("the newest are %+v", all.Entries[:2])
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
