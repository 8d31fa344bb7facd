package master_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

func TestWhatAPersonAsksOfAWorkerOutlivesBoth(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 4)
		s.stands("w1", core.WorkerReady)
		_, err := s.master.Drain(t.Context(), core.DrainWorker{Worker: "w1"})
		s.must(err)
		shown, err := s.master.Resize(t.Context(), "w1", 3)
		s.must(err)
		if shown.State != core.WorkerDraining || *shown.Wanted != 3 || shown.Slots != 4 {
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
		_, err = s.master.Drain(t.Context(), core.DrainWorker{Worker: "w1", Off: true})
		s.must(err)
		h.has(1)
		if _, err := s.master.Drain(t.Context(),
			core.DrainWorker{Worker: "w9", Off: true}); !errors.As(err,
			new(*core.UnknownWorker)) {
			t.Errorf("of a worker that is not there: %v", err)
		}
	})
}

func TestASweepForEveryWorker(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		each := func(sub *master.Submission) { sub.Record.EachWorker = true }
		var sub master.Submission
		sub.Record = record(t, 1)
		each(&sub)
		if _, err := s.master.Submit(t.Context(), sub); !errors.As(err, new(*core.NoWorker)) {
			t.Errorf("without a worker: %v", err)
		}
		hands := []*hand{s.newHand("w1", 4), s.newHand("w2", 1), s.newHand("w3", 1)}
		for _, h := range hands {
			s.stands(h.name, core.WorkerReady)
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
		s.becomes(id, core.Finished, "3 succeeded")
	})
}

func TestForget(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id := s.submit(1)
		h.has(1)
		if err := s.master.Forget(t.Context(), "w1"); !errors.As(err, new(*core.WrongState)) {
			t.Errorf("of one that is there: %v", err)
		}
		time.Sleep(2 * core.DefaultLease)
		s.must(s.master.Forget(t.Context(), "w1"))
		if err := s.master.Forget(t.Context(), "w1"); !errors.As(err, new(*core.UnknownWorker)) {
			t.Errorf("again: %v", err)
		}
		s.becomes(id, core.Open, "1 pending")
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
		if p, err := s.master.Output(t.Context(), first, 0, task.Read{Length: 100}); err != nil ||
			!p.Absent {
			t.Errorf("before it began: %+v, %v", p, err)
		}
		h.report(task.StartedEvent, h.has(1)[0])
		s.becomes(id, core.Open, "1 queued, 1 running")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := s.master.Output(ctx, first, 0, task.Read{Length: 100}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("of a worker that does not answer: %v", err)
		}
		cancel()
		go func() {
			h.told("read", func(c task.Control) bool {
				if c.Kind != task.ReadControl || c.Read.Offset != 7 || c.Attempt != 1 {
					return false
				}
				piece := task.Piece{ID: c.Read.ID, Worker: "w1", Offset: 7, Data: []byte(c.Sweep),
					Size: 99}
				return h.s.queue.Worker("w1").SendPiece(context.Background(), piece) == nil
			})
		}()
		p, err := s.master.Output(t.Context(), first, 1, task.Read{Stderr: true, Offset: 7,
			Length: 1 << 30})
		if err != nil || string(p.Data) != id {
			t.Errorf("%+v, %v", p, err)
		}
		if p, err := s.master.Output(t.Context(), first, 2, task.Read{Stderr: true, Offset: 7,
			Length: 1 << 30}); err != nil || !p.Absent {
			t.Errorf("of an attempt that there is not: %+v, %v", p, err)
		}
		time.Sleep(2 * core.DefaultLease)
		if _, err := s.master.Output(t.Context(), first, 0, task.Read{Length: 100}); !errors.As(err,
			new(*core.WorkerUnreachable)) {
			t.Errorf("of a worker that is away: %v", err)
		}
		if _, err := s.master.Output(t.Context(), task.ID{Sweep: id, Index: 9}, 0,
			task.Read{Length: 1}); !errors.As(err, new(*core.UnknownTask)) {
			t.Errorf("of a task that is not there: %v", err)
		}
	})
}

func TestAWorkerThatDoesNotDoWhatWasAskedIsAskedAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 4)
		s.stands("w1", core.WorkerReady)
		_, err := s.master.Drain(t.Context(), core.DrainWorker{Worker: "w1"})
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
		resizes := count(func(c task.Control) bool {
			return c.Kind == task.SlotsControl &&
				c.Slots == 2
		})
		if drains < 4 || resizes < 4 {
			t.Errorf("it was asked %d and %d times in four heartbeats", drains, resizes)
		}
	})
}

// What a drained worker still has is known at once, and not with its next heartbeat: who takes it
// away relies on that.
func TestADrainedWorkerHoldsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	s.submit(4)
	got := h.has(2)
	held := func() int {
		all, err := s.master.Workers(t.Context())
		s.must(err)
		return all[0].Held
	}
	_, err := s.master.Drain(t.Context(), core.DrainWorker{Worker: "w1"})
	s.must(err)
	if n := held(); n != 2 {
		t.Errorf("it holds %d", n)
	}
	becomes := func(want int) {
		t.Helper()
		s.poll(fmt.Sprintf("it holds %d", want), func() bool { return held() == want },
			func() string { return fmt.Sprint(held()) })
	}
	h.report(task.StartedEvent, got[0])
	h.report(task.ReturnedEvent, got[1])
	becomes(1)
	h.end(task.Success, got[0])
	becomes(0)
}

// TestAnswersAboutWorkersDoNotChange keeps what was returned of a worker while the worker registers
// again and is resized.
func TestAnswersAboutWorkersDoNotChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: "1", Image: "a@sha256:1",
		Environment: "made so"}, nil)
	s.stands("w1", core.WorkerReady)
	_, err := s.master.Resize(t.Context(), "w1", 3)
	s.must(err)
	before := s.worker("w1")
	_, err = s.master.Resize(t.Context(), "w1", 2)
	s.must(err)
	beat := task.Heartbeat{Version: task.Version, Worker: "w1", Slots: 4, Incarnation: "2",
		Image: "a@sha256:2", Environment: "made anew"}
	h.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: "w1", Time: time.Now(),
		Heartbeat: &beat})
	s.poll("it registers again", func() bool { return *s.worker("w1").Image == "a@sha256:2" },
		func() string { return *s.worker("w1").Image })
	if *before.Wanted != 3 || *before.Image != "a@sha256:1" || *before.Made != "made so" {
		t.Errorf("the first answer is now: %d slots, image %s, environment %s", *before.Wanted,
			*before.Image, *before.Made)
	}
}
