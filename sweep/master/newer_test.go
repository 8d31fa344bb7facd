package master_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestAWorkerOfAnotherVersionIsRefusedAndWhatItHadGoesToOthersOnce(t *testing.T) {
	for name, version := range map[string]int{"newer": task.Version + 1, "older": task.Version - 1} {
		t.Run(name, func(t *testing.T) { refusesVersion(t, version) })
	}
}

func refusesVersion(t *testing.T, version int) {
	other := task.Heartbeat{Version: version, Worker: "w1", Incarnation: "2", Program: "9.0",
		Host: "gpu1"}
	why := task.Mismatch(version, task.Version)
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(3)
		first := h.has(2)
		h.report(task.StartedEvent, first[0])
		s.becomes(id, core.Open, "1 pending, 1 queued, 1 running")
		h.beat(other)
		h.toldStop(first[0]) // should it still be there: every version obeys that
		s.stands("w1", core.WorkerRefused)
		w := s.worker("w1")
		if *w.Reason != why || w.Program != "9.0" {
			t.Errorf("%q of program %q; want %q", *w.Reason, w.Program, why)
		}
		s.becomes(id, core.Open, "3 pending")
		end := h.ending(first[0], &task.Outcome{Class: task.Error})
		end.Version = version
		joined := task.Event{Version: version, Kind: task.JoinedEvent, Worker: "w1"}
		stop := h.beating(func() task.Heartbeat { return other })
		for range 3 {
			h.emit(joined, end)
		}
		h.beat(says("1", 1)()) // of the program that it replaced
		other := s.newRunner("w2", 1, time.Millisecond)
		s.becomes(id, core.Finished, "3 succeeded")
		time.Sleep(3 * core.DefaultLease)
		if got := s.task(id, first[0].Index); got.Charged.Lost != 1 || len(other.has(3)) != 3 {
			t.Errorf("%+v", got)
		}
		s.stands("w1", core.WorkerRefused)
		for _, what := range []string{"a worker gets no tasks: " + why, "event of another version"} {
			if n := strings.Count(s.log.String(), what); n != 1 {
				t.Errorf("%q is logged %d times:\n%s", what, n, s.log)
			}
		}
		stop()
		time.Sleep(2 * core.DefaultLease)
		s.stands("w1", core.WorkerAway)
		h.joins("3", 1) // a program of this version again
		h.beating(says("3", 1))
		s.stands("w1", core.WorkerReady)
		s.submit(1)
		h.has(3)
	})
}

func TestAWorkerThatRefusesTasksGetsNone(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(2)
		given := h.has(2)
		h.report(task.ReturnedEvent, given[0]) // the other's message could not be read at all
		why := task.Mismatch(task.Version, task.Version+1)
		h.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w1", Incarnation: "1", Slots: 1, Draining: true,
				Refuses: why}
		})
		s.stands("w1", core.WorkerRefused)
		if w := s.worker("w1"); *w.Reason != why {
			t.Errorf("the reason is %q", *w.Reason)
		}
		s.becomes(id, core.Open, "2 pending")
		time.Sleep(time.Minute)
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.got) > 3 {
			t.Errorf("it got %v", h.got)
		}
	})
}
