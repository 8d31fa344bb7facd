package master_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// timed runs a test with a clock of its own, which jumps when everybody waits.
func timed(t *testing.T, f func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// beating lets a worker say every two seconds what it says, until the returned function is called.
func (h *hand) beating(says func() task.Heartbeat) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			_ = h.s.queue.Worker(h.name).SendHeartbeat(ctx, says()) // it is lost in an outage
			select {
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
				return
			}
		}
	}()
	stop = func() { cancel(); <-done }
	h.s.t.Cleanup(stop)
	return stop
}

func (h *hand) joins(incarnation string, slots int) {
	h.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: h.name,
		Time: time.Now(),
		Heartbeat: &task.Heartbeat{Version: task.Version, Worker: h.name, Incarnation: incarnation,
			Slots: slots}})
}

func says(incarnation string, slots int, running ...task.Busy) func() task.Heartbeat {
	return func() task.Heartbeat {
		return task.Heartbeat{Worker: "w1", Incarnation: incarnation, Slots: slots,
			Running: running}
	}
}

func busy(g given) task.Busy { return task.Busy{Sweep: g.sweep, Index: g.Index, Attempt: g.Number} }

// worker is one of the master's; zero when it knows none of the name.
func (s *site) worker(name string) core.Worker {
	s.t.Helper()
	all, err := s.master.Workers(context.Background())
	s.must(err)
	for _, w := range all {
		if w.Name == name {
			return w
		}
	}
	return core.Worker{}
}

func (s *site) stands(name, state string) {
	s.t.Helper()
	var is core.Worker
	s.poll(name+" is "+state, func() bool { is = s.worker(name); return is.State == state },
		func() string { return is.State })
}

func TestASilentWorkerLosesItsTasksWhenItsLeaseEnds(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(2)
		g := h.has(2)[0]
		h.report(task.StartedEvent, g)
		stop := h.beating(says("1", 1, busy(g)))
		time.Sleep(5 * time.Minute)
		if got := s.counts(id); got != "1 queued, 1 running" {
			t.Fatalf("with heartbeats: %s", got)
		}
		stop()
		time.Sleep(core.DefaultLease - 3*time.Second)
		if got := s.counts(id); got != "1 queued, 1 running" {
			t.Fatalf("before the end of the lease: %s", got)
		}
		time.Sleep(5 * time.Second)
		if got := s.counts(id); got != "2 pending" {
			t.Fatalf("after the lease: %s", got)
		}
		s.stands("w1", core.WorkerAway)
		h.beating(says("1", 1, busy(g))) // it was only cut off, and the task was not rescheduled
		s.stands("w1", core.WorkerReady)
		s.becomes(id, core.Open, "1 queued, 1 running")
		h.end(task.Success, g)
		s.becomes(id, core.Open, "1 queued, 1 succeeded")
		if row := s.task(id, g.Index); row.Attempt.Number != 1 || row.Charged != (task.Retry{}) {
			t.Errorf("%+v", row)
		}
	})
}

func TestAReconnectedWorkerStopsRescheduledTasks(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		g := h.has(1)[0]
		h.report(task.StartedEvent, g)
		h.beating(says("1", 1, busy(g)))()
		time.Sleep(core.DefaultLease + 5*time.Second)
		other := s.newHand("w2", 1)
		other.beating(says("1", 1))
		again := other.has(1)[0]
		h.beating(says("1", 1, busy(g)))
		h.toldStop(g)
		s.stands("w1", core.WorkerReady)
		h.end(task.Success, g)
		s.poll("the late result is kept", func() bool {
			sw, err := s.store.Sweep(context.Background(), id)
			s.must(err)
			tries, err := s.store.EarlierAttempts(context.Background(), sw, g.Index)
			s.must(err)
			for _, t := range tries {
				if t.Superseded && t.Number == 1 && t.Outcome.Class == task.Success {
					return true
				}
			}
			return false
		}, func() string { return "not there" })
		if row := s.task(id, g.Index); row.State == task.Succeeded || again.Number != 2 {
			t.Errorf("%+v after %+v", row, again)
		}
	})
}

func TestLeasesStandStillWhileTheQueueIsAway(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		g := h.has(1)[0]
		h.report(task.StartedEvent, g)
		s.becomes(id, core.Open, "1 running")
		h.beating(says("1", 1, busy(g)))
		s.queue.Outage(true)
		time.Sleep(10 * time.Minute)
		s.queue.Outage(false)
		time.Sleep(10 * time.Second)
		if got := s.counts(id); got != "1 running" {
			t.Errorf("after the outage: %s", got)
		}
	})
}

func TestAWorkerThatBeginsAnewHasLostWhatItRan(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(2)
		all := h.has(2)
		h.report(task.StartedEvent, all[0])
		h.joins("1", 1) // known
		s.becomes(id, core.Open, "1 queued, 1 running")
		h.joins("2", 1)
		s.becomes(id, core.Open, "1 pending, 1 queued") // what is on its way still comes
		h.beating(says("2", 1))
		h.report(task.StartedEvent, all[1])
		h.joins("2", 1) // comes again
		h.joins("1", 1)
		s.becomes(id, core.Open, "1 queued, 1 running")
		s.again()
		h = s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "2",
			Running: []task.Busy{busy(all[1])}}, nil)
		h.joins("2", 1) // and after a restart of the master
		h.beat(task.Heartbeat{Slots: 9, Incarnation: "1"})
		h.end(task.Success, all[1])
		s.becomes(id, core.Open, "1 queued, 1 succeeded")
		if got := s.worker("w1").Slots; got != 1 {
			t.Errorf("the heartbeat of a process before was heard: %d slots", got)
		}
	})
}

func TestARegistrationThatGotLostIsTakenUp(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		g := h.has(1)[0]
		h.report(task.StartedEvent, g)
		s.becomes(id, core.Open, "1 running")
		h.beating(says("2", 1)) // and no event: the broker came back empty
		time.Sleep(2 * core.DefaultLease)
		if again := h.has(2)[1]; again.Number != 2 {
			t.Errorf("%+v", again)
		}
	})
}

func TestAWorkerThatLeavesGivesEverythingBack(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(3)
		h.has(2)
		h.emit(task.Event{Version: task.Version, Kind: task.LeftEvent, Worker: "w1",
			Heartbeat: &task.Heartbeat{Worker: "w1", Incarnation: "1"}})
		s.becomes(id, core.Open, "3 pending")
		h.beat(task.Heartbeat{Slots: 1, Incarnation: "1"}) // it was on its way
		time.Sleep(2 * time.Second)
		s.stands("w1", core.WorkerAway)
		if got := s.counts(id); got != "3 pending" {
			t.Errorf("%s after its end", got)
		}
		if w := s.worker("w1"); w.Reason == nil || *w.Reason != "it was stopped" {
			t.Errorf("it is away: %v", w.Reason)
		}
		h.joins("2", 1)
		h.beat(task.Heartbeat{Slots: 1, Incarnation: "2"})
		h.has(4)
	})
}

func TestWhatAPurgeTookIsSentAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 2)
		id := s.submit(4) // the hand takes everything and says nothing: to the master it never came
		first := h.has(4)
		h.report(task.StartedEvent, first[0])
		h.beating(says("1", 2, busy(first[0])))
		again := h.has(7)[4:]
		if diff := cmp.Diff(first[1:], again, cmp.AllowUnexported(given{})); diff != "" {
			t.Error(diff)
		}
		s.becomes(id, core.Open, "3 queued, 1 running")
		time.Sleep(time.Minute)
		if got := s.task(id, 0); got.State != task.Running || got.Attempt.Number != 1 {
			t.Errorf("the task that runs is %+v", got)
		}
	})
}

func TestABusyWorkerGetsNothingAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		s.submit(4)
		first := h.has(2)
		h.report(task.StartedEvent, first[0])
		h.beating(says("1", 1, busy(first[0])))
		time.Sleep(time.Hour)
		if h.batches > 2 {
			t.Errorf("%d batches came", h.batches)
		}
	})
}

func TestAnAttemptThatItsWorkerDoesNotKnowIsLost(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		h.report(task.StartedEvent, h.has(1)[0])
		s.becomes(id, core.Open, "1 running")
		h.beating(says("1", 1)) // its end was in a queue that is no more
		time.Sleep(27 * time.Second)
		if got := s.counts(id); got != "1 running" {
			t.Errorf("before 30 s: %s", got)
		}
		if again := h.has(2)[1]; again.Number != 2 {
			t.Errorf("%+v", again)
		}
	})
}

// The clock of a host was set back, and what its worker kept of its starts is gone.
func TestAProcessThatSeemsOlderIsHeardWhenNoOtherSpeaks(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		h.report(task.StartedEvent, h.has(1)[0])
		s.becomes(id, core.Open, "1 running")
		current := h.beating(says("5", 1))
		h.beating(says("3", 1))
		time.Sleep(2 * core.DefaultLease)
		if got := s.counts(id); got != "1 running" && got != "1 queued" {
			// what it does not know is lost after a lease
			t.Errorf("while another speaks: %s", got)
		}
		if !strings.Contains(s.log.String(), "is not heard") {
			t.Error("nothing is said of it")
		}
		current()
		time.Sleep(3 * core.DefaultLease)
		s.stands("w1", core.WorkerReady)
		if got := h.has(2)[1]; got.Number < 2 {
			t.Errorf("%+v", got)
		}
	})
}
