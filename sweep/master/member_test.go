package master_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep"
	"mlframework/sweep/master"
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
			_ = h.s.queue.Port(h.name).Beat(ctx, says()) // it is lost in an outage
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
	h.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: h.name, Time: time.Now(),
		Beat: &task.Heartbeat{Version: task.Version, Worker: h.name, Incarnation: incarnation, Slots: slots}})
}

func says(incarnation string, slots int, running ...task.Busy) func() task.Heartbeat {
	return func() task.Heartbeat {
		return task.Heartbeat{Worker: "w1", Incarnation: incarnation, Slots: slots, Running: running}
	}
}

func busy(g given) task.Busy { return task.Busy{Sweep: g.sweep, Index: g.Index, Attempt: g.Number} }

// worker is one of the master's; zero when it knows none of the name.
func (s *site) worker(name string) master.Worker {
	s.t.Helper()
	all, err := s.master.Workers(context.Background())
	s.must(err)
	for _, w := range all {
		if w.Name == name {
			return w
		}
	}
	return master.Worker{}
}

func (s *site) stands(name, state string) {
	s.t.Helper()
	var is master.Worker
	s.poll(name+" is "+state, func() bool { is = s.worker(name); return is.State == state }, func() string { return is.State })
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
		time.Sleep(master.Lease - 3*time.Second)
		if got := s.counts(id); got != "1 queued, 1 running" {
			t.Fatalf("before the end of the lease: %s", got)
		}
		time.Sleep(5 * time.Second)
		if got := s.counts(id); got != "2 pending" {
			t.Fatalf("after the lease: %s", got)
		}
		s.stands("w1", master.WorkerAway)
		h.beating(says("1", 1, busy(g))) // it was cut off only
		h.toldStop(g)
		s.stands("w1", master.WorkerReady)
		again := h.has(3)[2]
		h.end(task.Success, g)
		s.poll("the late result is kept", func() bool {
			sw, err := s.store.Sweep(context.Background(), id)
			s.must(err)
			tries, err := s.store.Tries(context.Background(), sw, g.Index)
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
		s.becomes(id, sweep.Open, "1 running")
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
		s.becomes(id, sweep.Open, "1 queued, 1 running")
		h.joins("2", 1)
		s.becomes(id, sweep.Open, "1 pending, 1 queued") // what is on its way still comes
		h.beating(says("2", 1))
		h.report(task.StartedEvent, all[1])
		h.joins("2", 1) // comes again
		h.joins("1", 1)
		s.becomes(id, sweep.Open, "1 queued, 1 running")
		s.again()
		h = s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "2", Running: []task.Busy{busy(all[1])}}, nil)
		h.joins("2", 1) // and after a restart of the master
		h.beat(task.Heartbeat{Slots: 9, Incarnation: "1"})
		h.end(task.Success, all[1])
		s.becomes(id, sweep.Open, "1 queued, 1 succeeded")
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
		s.becomes(id, sweep.Open, "1 running")
		h.beating(says("2", 1)) // and no event: the broker came back empty
		time.Sleep(2 * master.Lease)
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
		h.emit(task.Event{Version: task.Version, Kind: task.LeftEvent, Worker: "w1", Beat: &task.Heartbeat{Worker: "w1", Incarnation: "1"}})
		s.becomes(id, sweep.Open, "3 pending")
		h.beat(task.Heartbeat{Slots: 1, Incarnation: "1"}) // it was on its way
		time.Sleep(2 * time.Second)
		s.stands("w1", master.WorkerAway)
		if got := s.counts(id); got != "3 pending" {
			t.Errorf("%s after its end", got)
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
		s.becomes(id, sweep.Open, "3 queued, 1 running")
		time.Sleep(time.Minute)
		if got := s.task(id, 0); got.State != task.Running || got.Try.Number != 1 {
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
		s.becomes(id, sweep.Open, "1 running")
		h.beating(says("1", 1)) // its end was in a queue that is no more
		time.Sleep(master.Lease - 3*time.Second)
		if got := s.counts(id); got != "1 running" {
			t.Errorf("before the lease is over: %s", got)
		}
		if again := h.has(2)[1]; again.Number != 2 {
			t.Errorf("%+v", again)
		}
	})
}

func TestAHostThatFailsAtOnceIsLeftAlone(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		bad := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1"}, func(given) *task.Outcome {
			return &task.Outcome{Class: task.Loss, Reason: "infra: no space left on device"}
		})
		bad.beating(says("1", 1))
		id := s.submit(20)
		s.stands("w1", master.WorkerQuarantined)
		bad.told("drain", func(c task.Control) bool { return c.Kind == task.DrainControl && !c.Off })
		if why := s.worker("w1").Reason; why == nil || !strings.Contains(*why, "no space left") {
			t.Errorf("the reason is %v", why)
		}
		good := s.newRunner("w2", 1, time.Millisecond)
		good.beating(func() task.Heartbeat { return task.Heartbeat{Worker: "w2", Incarnation: "1", Slots: 1} })
		s.becomes(id, sweep.Finished, "20 succeeded")
		time.Sleep(time.Minute)
		s.stands("w1", master.WorkerReady)
		bad.told("undrain", func(c task.Control) bool { return c.Kind == task.DrainControl && c.Off })
		s.submit(20)
		s.stands("w1", master.WorkerQuarantined) // one task was enough
		if n := len(bad.has(4)); n != 4 {
			t.Errorf("it got %d", n)
		}
	})
}

func TestWhatAPersonAsksOfAWorkerOutlivesBoth(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 4)
		s.stands("w1", master.WorkerReady)
		_, err := s.master.Drain(t.Context(), "w1", false)
		s.must(err)
		shown, err := s.master.Resize(t.Context(), "w1", 3)
		s.must(err)
		if shown.State != master.WorkerDraining || *shown.Wanted != 3 || shown.Slots != 4 {
			t.Errorf("%+v", shown)
		}
		drains := func(c task.Control) bool { return c.Kind == task.DrainControl && !c.Off }
		resizes := func(c task.Control) bool { return c.Kind == task.SlotsControl && c.Slots == 3 }
		h.told("drain", drains)
		h.told("resize", resizes)
		id := s.submit(1)
		s.again()
		h = s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: "2"}, nil)
		h.joins("2", 4)
		h.told("drain", drains)
		h.told("resize", resizes)
		time.Sleep(time.Second)
		if got := s.counts(id); got != "1 pending" {
			t.Errorf("%s while it is drained", got)
		}
		_, err = s.master.Drain(t.Context(), "w1", true)
		s.must(err)
		h.has(1)
		if _, err := s.master.Drain(t.Context(), "w9", true); !errors.As(err, new(*master.UnknownWorker)) {
			t.Errorf("of a worker that is not there: %v", err)
		}
	})
}

func TestASweepForEveryWorker(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		each := func(sub *master.Submission) { sub.Record.EachWorker = true }
		var sub master.Submission
		sub.Record, sub.Total = record(t, 1)
		each(&sub)
		if _, err := s.master.Submit(t.Context(), sub); !errors.As(err, new(*master.NoWorker)) {
			t.Errorf("without a worker: %v", err)
		}
		hands := []*hand{s.newHand("w1", 4), s.newHand("w2", 1), s.newHand("w3", 1)}
		for _, h := range hands {
			s.stands(h.name, master.WorkerReady)
		}
		id := s.submit(1, each)
		for n, h := range hands {
			g := h.has(1)[0]
			if g.Index != int64(n) {
				t.Errorf("%s got task %d", h.name, g.Index)
			}
			h.report(task.StartedEvent, g)
			h.end(task.Success, g)
		}
		s.becomes(id, sweep.Finished, "3 succeeded")
	})
}

func TestForget(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		h.has(1)
		if err := s.master.Forget(t.Context(), "w1"); !errors.As(err, new(*master.WrongState)) {
			t.Errorf("of one that is there: %v", err)
		}
		time.Sleep(2 * master.Lease)
		s.must(s.master.Forget(t.Context(), "w1"))
		if err := s.master.Forget(t.Context(), "w1"); !errors.As(err, new(*master.UnknownWorker)) {
			t.Errorf("again: %v", err)
		}
		s.becomes(id, sweep.Open, "1 pending")
		s.again()
		if all, err := s.master.Workers(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("after a restart: %v, %v", all, err)
		}
	})
}

func TestOutput(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(2)
		first := task.ID{Sweep: id}
		if p, err := s.master.Output(t.Context(), first, 0, false, 0, 100); err != nil || !p.Absent {
			t.Errorf("before it began: %+v, %v", p, err)
		}
		h.report(task.StartedEvent, h.has(1)[0])
		s.becomes(id, sweep.Open, "1 queued, 1 running")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := s.master.Output(ctx, first, 0, false, 0, 100); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a worker that does not answer: %v", err)
		}
		cancel()
		go func() {
			h.told("read", func(c task.Control) bool {
				if c.Kind != task.ReadControl || c.Read.Offset != 7 {
					return false
				}
				piece := task.Piece{ID: c.Read.ID, Worker: "w1", Offset: 7, Data: []byte(c.Sweep), Size: 99}
				return h.s.queue.Port("w1").Send(context.Background(), piece) == nil
			})
		}()
		p, err := s.master.Output(t.Context(), first, 2, true, 7, 1<<30)
		if err != nil || string(p.Data) != id {
			t.Errorf("%+v, %v", p, err)
		}
		time.Sleep(2 * master.Lease)
		if _, err := s.master.Output(t.Context(), first, 0, false, 0, 100); !errors.As(err, new(*master.OutputAway)) {
			t.Errorf("of a worker that is away: %v", err)
		}
		if _, err := s.master.Output(t.Context(), task.ID{Sweep: id, Index: 9}, 0, false, 0, 1); !errors.As(err, new(*master.UnknownTask)) {
			t.Errorf("of a task that is not there: %v", err)
		}
	})
}

func TestAWorkerThatDoesNotDoWhatWasAskedIsAskedAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 4)
		s.stands("w1", master.WorkerReady)
		_, err := s.master.Drain(t.Context(), "w1", false)
		s.must(err)
		_, err = s.master.Resize(t.Context(), "w1", 2)
		s.must(err)
		h.beating(says("1", 4)) // it heard nothing
		count := func(is func(task.Control) bool) (n int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, c := range h.controls {
				if is(c) {
					n++
				}
			}
			return n
		}
		time.Sleep(7 * time.Second)
		drains := count(func(c task.Control) bool { return c.Kind == task.DrainControl && !c.Off })
		resizes := count(func(c task.Control) bool { return c.Kind == task.SlotsControl && c.Slots == 2 })
		if drains < 4 || resizes < 4 {
			t.Errorf("it was asked %d and %d times in four heartbeats", drains, resizes)
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
		s.becomes(id, sweep.Open, "1 running")
		current := h.beating(says("5", 1))
		h.beating(says("3", 1))
		time.Sleep(2 * master.Lease)
		if got := s.counts(id); got != "1 running" && got != "1 queued" { // what it does not know is lost after a lease
			t.Errorf("while another speaks: %s", got)
		}
		if !strings.Contains(s.log.String(), "is not heard") {
			t.Error("nothing is said of it")
		}
		current()
		time.Sleep(3 * master.Lease)
		s.stands("w1", master.WorkerReady)
		if got := h.has(2)[1]; got.Number < 2 {
			t.Errorf("%+v", got)
		}
	})
}

func TestWhatRunsForAWhileEndsTheProbation(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: "1"}, func(given) *task.Outcome {
			return &task.Outcome{Class: task.Loss, Reason: "infra: no space left on device"}
		})
		stop := h.beating(says("1", 4))
		s.submit(20, func(sub *master.Submission) { sub.Record.Retry.Lost = 100 })
		s.stands("w1", master.WorkerQuarantined)
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
