package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/queue"
)

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
	s.queue.Bury("tasks.w1", []byte("\x1b[31m\xff"+strings.Repeat("x", 1000)), "one\ntwo")
	s.queue.Bury("tasks.w2", []byte("{}"), "gone")
	all, err := c.Dead(ctx, 0)
	s.must(err)
	if all.Count != 2 || len(all.Letters) != 2 {
		t.Fatalf("%+v", all)
	}
	l := all.Letters[1]
	if l.From != "tasks.w1" || l.Reason != `one\ntwo` || l.Bytes != 1006 || l.Time == nil || !strings.HasPrefix(l.Preview, `\x1b[31m\xffxxx`) || len(l.Preview) > 600 {
		t.Errorf("%+v", l)
	}
	if one, err := c.Dead(ctx, 1); err != nil || one.Count != 2 || len(one.Letters) != 1 || one.Letters[0].From != "tasks.w2" {
		t.Errorf("%+v, %v", one, err)
	}
	b, err := c.Requeue(ctx, queue.AllLetters) // what still cannot be read comes back
	if want := (api.Buried{Requeued: 1, Left: 1}); err != nil || b != want {
		t.Errorf("requeued: %+v, %v", b, err)
	}
	all, err = c.Dead(ctx, 0)
	s.must(err)
	id := all.Letters[0].ID
	// Under its key a repetition is given the first one's answer.
	for range 2 {
		status, text, _ := s.raw("DELETE", "/v1/broker/dead/"+id, "", "Idempotency-Key", "d-1")
		if got := parse[api.Buried](t, text); status != http.StatusOK || got.Dropped != 1 {
			t.Errorf("drop: %d %s", status, text)
		}
	}
	status, text, _ := s.raw("DELETE", "/v1/broker/dead/"+id, "")
	if want := `{"error":"there is no dead letter ` + id + `","remedy":"run-tasks broker dead lists them"}`; status != http.StatusNotFound || text != want {
		t.Errorf("once more: %d %s", status, text)
	}
	if b, err = c.Drop(ctx, queue.AllLetters); err != nil || b.Dropped != 1 {
		t.Errorf("dropped: %+v, %v", b, err)
	}
	if !strings.Contains(s.log.String(), `user=ann what="DELETE /broker/dead" status=200`) {
		t.Errorf("it is not recorded:\n%s", s.log)
	}
	broker, err := c.BrokerQueues(ctx)
	s.must(err)
	broker.Queues[2].Messages = 0 // the worker's heartbeats come all the time
	want := []api.Depth{{Queue: "tasks.w1"}, {Queue: "events"}, {Queue: "heartbeats"}, {Queue: "dead"}}
	if diff := cmp.Diff(want, broker.Queues); diff != "" {
		t.Error(diff)
	}
	s.queue.Outage(true)
	if status, _, _ := s.raw("POST", "/v1/broker/dead/requeue", ""); status != http.StatusServiceUnavailable {
		t.Errorf("in an outage: %d", status)
	}
	if broker, err = c.BrokerQueues(ctx); err != nil || !broker.Away || broker.Queues != nil {
		t.Errorf("in an outage: %+v, %v", broker, err)
	}
}
