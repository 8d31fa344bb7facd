package amqp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// A worker that leaves its tasks in its queue does not fill the broker: what does not fit is
// refused, nothing that was taken is lost, and there is room again for what is read.
func TestTheQueueOfAWorkersTasksIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	policy := rights.Policies()[0]
	if policy.Definition["max-length-bytes"] == nil {
		t.Fatal("it has no bound")
	}
	policy.Definition["max-length-bytes"] = 100 << 10
	definition, err := json.Marshal(policy.Definition)
	if err != nil {
		t.Fatal(err)
	}
	s.broker.SetPolicy(t, s.vhost, policy.Pattern, string(definition))
	p := s.port(t, "w1")
	b := task.Batch{Version: task.Version, Sweep: "a-1",
		Recipe: task.Recipe{Definition: "a", Command: []string{strings.Repeat("x", 10<<10)}}}
	taken := int64(0)
	for ; taken < 100; taken++ {
		b.Attempts = []task.Attempt{{Index: taken, Number: 1}}
		if err = s.hub.Publish(t.Context(), "w1", b); err != nil {
			break
		}
	}
	if !errors.Is(err, queue.ErrUnreachable) || taken < 5 || taken > 20 {
		t.Fatalf("%d batches of 10 KiB are taken, %v", taken, err)
	}
	batches := p.Consume(t.Context())
	for n := range taken {
		d := <-batches
		if got := d.Items[0].Attempts[0].Index; got != n {
			t.Fatalf("the batch %d is of task %d", n, got)
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "there is room", func() bool { return s.hub.Publish(t.Context(), "w1", b) == nil })
}
