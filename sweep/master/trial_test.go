package master_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

func TestAHostThatFailsAtOnceIsLeftAlone(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		bad := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1"},
			func(given) *task.Outcome {
				return &task.Outcome{Class: task.Loss, Reason: "infra: no space left on device"}
			})
		bad.beating(says("1", 1))
		id := s.submit(20)
		s.stands("w1", core.WorkerQuarantined)
		bad.told("drain", func(c task.Control) bool {
			return c.Kind == task.DrainControl &&
				!c.Off
		})
		if why := s.worker("w1").Reason; why == nil || !strings.Contains(*why, "no space left") {
			t.Errorf("the reason is %v", why)
		}
		good := s.newRunner("w2", 1, time.Millisecond)
		good.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w2", Incarnation: "1",
				Slots: 1}
		})
		s.becomes(id, core.Finished, "20 succeeded")
		time.Sleep(time.Minute)
		s.stands("w1", core.WorkerReady)
		bad.told("undrain", func(c task.Control) bool {
			return c.Kind == task.DrainControl &&
				c.Off
		})
		s.submit(20)
		s.stands("w1", core.WorkerQuarantined) // one task was enough
		if n := len(bad.has(4)); n != 4 {
			t.Errorf("it got %d", n)
		}
	})
}

func TestWhatRunsForAWhileEndsTheProbation(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: "1"},
			func(given) *task.Outcome {
				return &task.Outcome{Class: task.Loss, Reason: "infra: no space left on device"}
			})
		stop := h.beating(says("1", 4))
		s.submit(20, func(sub *master.Submission) { sub.Record.Retry.Lost = 100 })
		s.stands("w1", core.WorkerQuarantined)
		h.automatic(nil)
		h.mu.Lock()
		had := len(h.got)
		h.mu.Unlock()
		time.Sleep(time.Minute)
		g := h.has(had + 1)[had] // the one that proves it
		h.report(task.StartedEvent, g)
		stop()
		h.beating(says("1", 4, busy(g)))
		if more := h.has(had + 4); len(more) != had+4 {
			t.Errorf("%d", len(more))
		}
	})
}

// What was on its way when a host was found unfit is not charged for it, and runs elsewhere.
func TestABurstOfFailuresIsChargedOnce(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 8)
		h.beating(says("1", 8))
		id := s.submit(20)
		var burst []task.Event
		for _, g := range h.has(16) {
			burst = append(burst, h.event(task.ClaimedEvent, g),
				h.ending(g, &task.Outcome{Class: task.Loss,
					Reason: "infra: no space left on device"}))
		}
		h.emit(burst...)
		s.stands("w1", core.WorkerQuarantined)
		s.becomes(id, core.Open, "20 pending")
		charged := 0
		for n := range int64(16) {
			charged += s.task(id, n).Charged.Lost
		}
		if charged != task.MaxHostFaults {
			t.Errorf("%d attempts were charged", charged)
		}
		good := s.newRunner("w2", 4, time.Millisecond)
		good.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w2", Incarnation: "1",
				Slots: 4}
		})
		s.becomes(id, core.Finished, "20 succeeded")
	})
}

// What ran before the quarantine and ends well in it says nothing about the host as it is: the
// reason stays, and so does the time.
func TestWhatEndsWellInQuarantineForgetsNothing(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 8)
		h.beating(says("1", 8))
		s.submit(20)
		got := h.has(8)
		h.report(task.StartedEvent, got[0])
		for _, g := range got[1:4] {
			h.emit(h.ending(g, &task.Outcome{Class: task.Loss,
				Reason: "infra: no space left on device"}))
		}
		s.stands("w1", core.WorkerQuarantined)
		h.end(task.Success, got[0])
		// How many more were sent before the third loss is left open.
		s.poll("the end is on disk", func() bool {
			return s.task("train-1", got[0].Index).State == task.Succeeded
		}, func() string { return s.counts("train-1") })
		if w := s.worker("w1"); w.State != core.WorkerQuarantined || !strings.Contains(*w.Reason,
			"no space left") {
			t.Errorf("%s: %s", w.State, *w.Reason)
		}
	})
}

// A task that could not begin as its definition names what is not there says nothing of its host:
// neither that it is unfit, nor that it is well.
func TestWhatNeverBeganProvesNothing(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 8)
		h.beating(says("1", 8))
		s.submit(8, func(sub *master.Submission) { sub.Record.Retry.Lost = 100 })
		for n, o := range []*task.Outcome{
			{Class: task.Loss, Reason: "infra: no memory"},
			{Class: task.Loss, Reason: "infra: no memory"},
			{Class: task.Error, Reason: "not started on gpu1: /data is not there"},
			{Class: task.Error, Reason: "not started on gpu1: /data is not there"},
		} {
			h.emit(h.ending(h.has(8)[n], o))
		}
		s.becomes("train-1", core.Open, "2 pending, 4 queued, 2 failed")
		s.stands("w1", core.WorkerReady)
		h.emit(h.ending(h.has(8)[4], &task.Outcome{Class: task.Loss, Reason: "infra: no memory"}))
		s.stands("w1", core.WorkerQuarantined)
	})
}
