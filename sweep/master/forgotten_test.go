package master_test

import (
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// TestRetryForAForgottenWorker: the task of a forgotten worker that is retried waits for a worker
// of that name, says so, and runs there when one comes, also under another master. The attempt
// that the worker had does not count any more.
func TestRetryForAForgottenWorker(t *testing.T) {
	for _, c := range []struct {
		ran, restarted bool
		incarnation    string // of the process that comes; "1" is the one that was there
	}{
		{ran: true, incarnation: "2"}, {ran: false, incarnation: "2"},
		{ran: true, incarnation: "1"}, {ran: false, incarnation: "1"},
		{ran: true, restarted: true, incarnation: "2"},
		{ran: true, restarted: true, incarnation: "1"},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			timed(t, func(t *testing.T) {
				s := newSite(t)
				h1 := s.newRunner("w1", 1, time.Millisecond)
				h1.beating(says("1", 1))
				h := s.newHand("w2", 1)
				s.stands("w2", core.WorkerReady)
				id := s.submit(1, func(sub *master.Submission) { sub.Record.EachWorker = true })
				first := h.has(1)[0]
				if c.ran {
					h.report(task.ClaimedEvent, first)
					h.report(task.StartedEvent, first)
				}
				time.Sleep(2 * core.DefaultLease)
				s.must(s.master.Forget(t.Context(), "w2"))
				s.becomes(id, core.Finished, "1 succeeded, 1 cancelled")
				err := s.master.Retry(t.Context(), id, []int64{first.Index}, false,
					api.Continuation{})
				if err != nil {
					t.Fatal(err)
				}
				if c.restarted {
					s.must(s.end())
					s.start()
				}
				s.becomes(id, core.Open, "1 pending, 1 succeeded")
				waits, err := s.master.Blocked(t.Context(), id)
				s.must(err)
				const want = "waits for worker w2, which is not known: start it, or cancel the task"
				if len(waits) != 1 || waits[first.Index] != want {
					t.Errorf("it says %v", waits)
				}
				beats := func(running ...task.Busy) (stop func()) {
					return h.beating(func() task.Heartbeat {
						b := says(c.incarnation, 1, running...)()
						b.Worker = "w2"
						return b
					})
				}
				var running []task.Busy
				if c.ran && c.incarnation == "1" {
					running = []task.Busy{busy(first)}
				} else if c.incarnation != "1" {
					h.joins(c.incarnation, 1)
				}
				stop := beats(running...)
				if len(running) > 0 {
					h.told("to stop it", func(m task.Control) bool {
						return m.Kind == task.StopControl && m.Index == first.Index &&
							m.Attempt == first.Number
					})
					stop()
					h.end(task.Stopped, first)
					beats()
				}
				second := h.has(2)[1]
				if second.Index != first.Index || second.Number == first.Number {
					t.Fatalf("it gets %+v", second)
				}
				h.report(task.ClaimedEvent, second)
				h.report(task.StartedEvent, second)
				h.end(task.Success, second)
				s.becomes(id, core.Finished, "2 succeeded")
				if charged := s.task(id, first.Index).Charged; charged != (task.Retry{}) {
					t.Errorf("it is charged %+v", charged)
				}
			})
		})
	}
}
