package master_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// newer is what a worker says that was updated before the master.
func newer(incarnation string) task.Heartbeat {
	return task.Heartbeat{Version: task.Newest + 1, Worker: "w1", Incarnation: incarnation,
		Program: "9.0", Host: "gpu1"}
}

func TestANewerWorkerIsRefusedAndWhatItHadGoesToOthersOnce(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(3)
		first := h.has(2)
		h.report(task.StartedEvent, first[0])
		s.becomes(id, core.Open, "1 pending, 1 queued, 1 running")
		h.beat(newer("2"))
		h.toldStop(first[0]) // should it still be there: a newer program reads what this one says
		s.stands("w1", core.WorkerRefused)
		w := s.worker("w1")
		if want := fmt.Sprintf(
			"its program speaks version %d and the master reads up to %d: update the master",
			task.Newest+1, task.Newest); *w.Reason != want || w.Program != "9.0" {
			t.Errorf("%q of program %q; want %q", *w.Reason, w.Program, want)
		}
		s.becomes(id, core.Open, "3 pending")
		end := h.ending(first[0], &task.Outcome{Class: task.Error})
		end.Version++
		joined := task.Event{Version: task.Newest + 1, Kind: task.JoinedEvent, Worker: "w1"}
		stop := h.beating(func() task.Heartbeat { return newer("2") })
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
		for what, want := range map[string]int{"newer than the master's": 1,
			"event of a newer version": 1} {
			if n := strings.Count(s.log.String(), what); n != want {
				t.Errorf("%q is logged %d times; want %d:\n%s", what, n, want, s.log)
			}
		}
		stop()
		time.Sleep(2 * core.DefaultLease)
		s.stands("w1", core.WorkerAway)
		h.joins("3", 1) // an older program again
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
		why := "the master speaks version 1 and this worker reads up to 0: update the worker"
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
