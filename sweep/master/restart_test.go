package master_test

import (
	"errors"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// restartOf tells whether a control message asks a process to start again.
func restartOf(incarnation string, now bool) func(task.Control) bool {
	return func(c task.Control) bool {
		return c.Kind == task.RestartControl && c.Incarnation == incarnation && c.Now == now
	}
}

// A worker that is asked to start again gets nothing more, and its next process does; nothing is
// charged.
func TestAWorkerIsStartedAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(3)
		all := h.has(2)
		h.report(task.ClaimedEvent, all...)
		h.report(task.StartedEvent, all[0])
		s.becomes(id, core.Open, "1 pending, 1 claimed, 1 running")
		shown, err := s.master.Restart(t.Context(), "w1", false)
		s.must(err)
		if shown.State != core.WorkerRestarting {
			t.Errorf("%+v", shown)
		}
		h.told("restart", restartOf("1", false))
		stop := h.beating(says("1", 1, busy(all[0]))) // it has not heard it yet
		time.Sleep(10 * time.Second)
		h.mu.Lock()
		n := 0
		for _, c := range h.controls {
			if restartOf("1", false)(c) {
				n++
			}
			if c.Kind == task.DrainControl && !c.Off {
				t.Errorf("it is drained for good: %+v", c)
			}
		}
		h.mu.Unlock()
		if n < 4 {
			t.Errorf("it was asked %d times in five heartbeats", n)
		}
		stop()
		leaving := func() task.Heartbeat {
			b := says("1", 1, busy(all[0]))()
			b.Draining, b.Leaving = true, true
			return b
		}
		h.report(task.ReturnedEvent, all[1])
		stop = h.beating(leaving)
		time.Sleep(5 * time.Second)
		s.stands("w1", core.WorkerRestarting)
		_, err = s.master.Restart(t.Context(), "w1", true)
		s.must(err)
		h.told("restart now", restartOf("1", true))
		h.end(task.Stopped, all[0])
		stop()
		left := leaving()
		h.emit(task.Event{Version: task.Version, Kind: task.LeftEvent, Worker: "w1",
			Time: time.Now(), Heartbeat: &left})
		s.becomes(id, core.Open, "3 pending")
		s.stands("w1", core.WorkerAway)
		if w := s.worker("w1"); *w.Reason != "it starts again" {
			t.Errorf("%+v", w)
		}
		h.joins("2", 1)
		h.beat(says("2", 1)())
		s.stands("w1", core.WorkerReady)
		h.has(4)
		if got := s.task(id, all[0].Index).Charged; got != (task.Retry{}) {
			t.Errorf("charged %+v", got)
		}
	})
}

// A person's drain outlives a restart.
func TestADrainedWorkerIsStartedAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		s.stands("w1", core.WorkerReady)
		_, err := s.master.Drain(t.Context(), core.DrainWorker{Worker: "w1"})
		s.must(err)
		_, err = s.master.Restart(t.Context(), "w1", false)
		s.must(err)
		s.stands("w1", core.WorkerRestarting)
		h.joins("2", 1)
		h.beat(says("2", 1)())
		s.stands("w1", core.WorkerDraining)
	})
}

func TestWorkersThatAreNotStartedAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		if _, err := s.master.Restart(t.Context(), "w1", false); !errors.As(err,
			new(*core.UnknownWorker)) {
			t.Errorf("unknown: %v", err)
		}
		s.newHand("w1", 1)
		s.stands("w1", core.WorkerReady)
		time.Sleep(2 * core.DefaultLease)
		if _, err := s.master.Restart(t.Context(), "w1", true); !errors.As(err,
			new(*core.WrongState)) {
			t.Errorf("away: %v", err)
		}
		s.again(alone)
		s.newHand("w1", 1)
		s.stands("w1", core.WorkerReady)
		_, err := s.master.Restart(t.Context(), "w1", false)
		want := "w1 is the worker of a run on this machine, and ends with it; " +
			"`run-tasks pause --stop` ends the run, `run-tasks resume` goes on"
		if err == nil || err.Error() != want {
			t.Errorf("of a local run: %v", err)
		}
	})
}
