package memory_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/queue/memory"
	"mlframework/sweep/queue/queuetest"
	"mlframework/sweep/task"
)

func TestContract(t *testing.T) {
	for name, open := range map[string]func() *memory.Queue{
		"as it is": memory.New, "encoded": memory.NewEncoding} {
		t.Run(name, func(t *testing.T) { testContract(t, open) })
	}
}

func testContract(t *testing.T, open func() *memory.Queue) {
	queuetest.Run(t, func(t *testing.T) queuetest.Fixture {
		q := open()
		return queuetest.Fixture{
			Master: q,
			Worker: q.Worker,
			Outage: q.Outage,
			Restart: func() { // nothing outlives the process: a restart is a short outage
				q.Outage(true)
				q.Outage(false)
			},
			Purge: func(worker string) { q.Purge(worker) },
		}
	})
}

// An attempt that is too long for a message keeps back no other.
func TestATooLongAttemptKeepsBackNoOther(t *testing.T) {
	t.Parallel()
	q := memory.NewEncoding()
	var all []task.Batch
	for n := range 3 {
		b := task.Batch{Version: task.Version, Sweep: "a-1",
			Attempts: []task.Attempt{{Index: int64(n), Number: 1}}}
		if n == 1 {
			b.Attempts[0].Args = []string{string(make([]byte, 4<<20))} // 24 MiB of JSON
		}
		all = append(all, b)
	}
	err := q.Publish(t.Context(), "w1", all...)
	if err == nil || !strings.Contains(err.Error(), "task a-1/1") {
		t.Errorf("the error is %v", err)
	}
	batches := q.Worker("w1").Consume(t.Context())
	for _, want := range []int64{0, 2} {
		select {
		case d := <-batches:
			if got := d.Items[0].Attempts[0].Index; got != want {
				t.Errorf("task %d came, want %d", got, want)
			}
			if err := d.Ack(); err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("task %d does not come", want)
		}
	}
}

func TestPurgeTellsHowManyBatchesItDropped(t *testing.T) {
	t.Parallel()
	q := memory.New()
	if err := q.Publish(t.Context(), "w1", task.Batch{}, task.Batch{}, task.Batch{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{3, 0} {
		if got := q.Purge("w1"); got != want {
			t.Errorf("purged %d batches; want %d", got, want)
		}
	}
}

func TestTheZeroValueIsAnEmptyQueue(t *testing.T) {
	t.Parallel()
	var q memory.Queue
	if n := q.Purge("w1"); n != 0 {
		t.Errorf("purged %d batches of a new queue", n)
	}
	if err := q.Worker("w1").SendHeartbeat(t.Context(), task.Heartbeat{Worker: "w1"}); err != nil {
		t.Fatal(err)
	}
	if h := <-q.Heartbeats(t.Context()); h.Worker != "w1" {
		t.Errorf("the heartbeat is of %q", h.Worker)
	}
}

func TestMessagesThatNobodyTookStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := memory.New()
		for n := range 2 {
			if err := q.SendControl(t.Context(), "w1", task.Control{Index: int64(n)}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		q.Worker("w1").Controls(ctx)
		synctest.Wait() // until it offers the first
		stop()
		synctest.Wait()
		c := q.Worker("w1").Controls(t.Context())
		for n := range int64(2) {
			if got := <-c; got.Index != n {
				t.Errorf("message %d came; want %d", got.Index, n)
			}
		}
	})
}
