package master_test

import (
	"context"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// A task that only one worker can run says for whom it waits, until that worker is back or
// forgotten.
func TestATaskThatWaitsForItsWorkerSaysSo(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h1 := s.newRunner("w1", 1, time.Millisecond)
		h2 := s.newHand("w2", 1)
		h1.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w1", Incarnation: "1",
				Slots: 1}
		})
		stop := h2.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w2", Incarnation: "1", Slots: 1}
		})
		s.stands("w2", core.WorkerReady)
		id := s.submit(1, func(sub *master.Submission) { sub.Record.EachWorker = true })
		s.becomes(id, core.Open, "1 queued, 1 succeeded")
		w, end, err := s.master.Watch(context.Background(), id, api.DetailTasks)
		s.must(err)
		defer end()
		waits := func() map[int64]string {
			all, err := s.master.Blocked(context.Background(), id)
			s.must(err)
			return all
		}
		if got := waits(); len(got) != 0 {
			t.Errorf("while its worker is there: %v", got)
		}
		stop()
		gone := time.Now().Add(-2 * time.Second)
		want := ""
		for want == "" { // as followers are told
			u, err := w.Next(context.Background())
			s.must(err)
			for _, r := range u.Rows {
				if r.Index == 1 && r.Reason != "" {
					want = r.Reason
				}
			}
		}
		since := time.Now().UTC().Truncate(time.Second)
		if told := "waits for worker w2, which is away since " + since.Format(time.DateTime) +
			" UTC (no heartbeat for 2m0s); `run-tasks workers forget w2` cancels it"; want != told ||
			since.Sub(gone) < core.DefaultLease {
			t.Errorf("it says %q; want %q", want, told)
		}
		if got := waits(); len(got) != 1 || got[1] != want {
			t.Errorf("it says %v", got)
		}
		time.Sleep(time.Minute)
		h2.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w2", Incarnation: "1",
				Slots: 1, Draining: true}
		})
		s.poll("it drains", func() bool {
			got := waits()[1]
			return got == "waits for worker w2, which takes nothing new; `run-tasks workers "+
				"resume w2` lets it"
		}, func() string { return waits()[1] })
	})
}
