package master_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// phases bring the only task of a sweep so far.
var phases = []struct {
	name  string
	reach func(*hand) given
}{
	{"queued", func(h *hand) given { return h.has(1)[0] }},
	{"claimed", func(h *hand) given { g := h.has(1)[0]; h.report(task.ClaimedEvent, g); return g }},
	{"running", func(h *hand) given {
		g := h.has(1)[0]
		h.report(task.ClaimedEvent, g)
		h.report(task.StartedEvent, g)
		return g
	}},
}

func TestCancelInEveryPhase(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		for _, p := range phases {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				h := s.newHand("w1", 1)
				id := s.submit(1)
				g := p.reach(h)
				s.becomes(id, core.Open, "1 "+p.name)
				cancel := func() error {
					if whole {
						err := s.master.Cancel(t.Context(), id, "enough")
						return err
					}
					err := s.master.CancelTask(t.Context(), task.ID{Sweep: id}, "enough")
					return err
				}
				s.must(cancel())
				s.must(cancel()) // twice is the same
				h.toldStop(g)
				end, state := task.ReturnedEvent, core.Finished
				if p.name == "running" {
					h.end(task.Stopped, g)
				} else {
					h.report(end, g)
				}
				if whole {
					state = core.Cancelled
				}
				s.becomes(id, state, "1 cancelled")
				h.end(task.Success, g) // too late
				if err := s.master.CancelTask(t.Context(), task.ID{Sweep: id}, ""); err == nil {
					t.Error("cancelled once more")
				}
				s.becomes(id, state, "1 cancelled")
			})
		}
	}
}

func TestRetryWhileCancelled(t *testing.T) {
	t.Parallel()
	for _, p := range phases {
		for _, indexes := range [][]int64{nil, {0}} {
			t.Run(fmt.Sprint(p.name, indexes), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				h := s.newHand("w1", 1)
				id := s.submit(1)
				g := p.reach(h)
				s.becomes(id, core.Open, "1 "+p.name)
				retry := func() error {
					return s.master.Retry(t.Context(), id, indexes, false, api.Continuation{})
				}
				if err := retry(); err == nil {
					t.Error("what is not cancelled was retried")
				}
				s.must(s.master.Cancel(t.Context(), id, "enough"))
				h.toldStop(g)
				s.must(retry())
				if err := retry(); err == nil {
					t.Error("retried twice")
				}
				s.becomes(id, core.Open, "1 "+p.name)
				if p.name == "running" {
					h.end(task.Stopped, g)
				} else {
					h.report(task.ReturnedEvent, g)
				}
				h.end(task.Success, h.has(2)[1])
				s.becomes(id, core.Finished, "1 succeeded")
			})
		}
	}
}

func TestCancelOfWhatWasNeverHandedOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1_000_000)
	err := s.master.CancelTask(t.Context(), task.ID{Sweep: id, Index: 999_999}, "x")
	s.must(err)
	s.becomes(id, core.Open, "999999 pending, 1 cancelled")
	err = s.master.Cancel(t.Context(), id, "x")
	s.must(err)
	s.becomes(id, core.Cancelled, "1000000 cancelled")
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(4)
	all := h.has(2)
	h.report(task.StartedEvent, all[0])
	h.report(task.ClaimedEvent, all[1])
	s.becomes(id, core.Open, "2 pending, 1 claimed, 1 running")
	err := s.master.Pause(t.Context(), id, "lunch", false)
	s.must(err)
	h.told("recall", func(c task.Control) bool {
		return c.Kind == task.RecallControl &&
			c.Sweep == id
	})
	h.report(task.ReturnedEvent, all[1])
	h.end(task.Success, all[0]) // it may end
	s.becomes(id, core.Paused, "3 pending, 1 succeeded")
	err = s.master.Resume(t.Context(), id, api.Continuation{Revision: "r2", Code: "c2"})
	s.must(err)
	again := h.has(4)[2:]
	if again[0].Index != all[1].Index || again[0].Number != 2 {
		t.Errorf("%+v", again)
	}
	if got := s.task(id, again[0].Index).Attempt.Revision; got != "r2" {
		t.Errorf("it runs %s", got)
	}
	stored, err := s.store.Sweep(t.Context(), id)
	s.must(err)
	if codes, err := s.store.Codes(t.Context(), stored); err != nil || codes["r2"] != "c2" {
		t.Errorf("%v, %v", codes, err)
	}
}

func TestAnInterruptLeavesNothingRunningAndAllResumable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	id := s.submit(10)
	all := h.has(4)
	h.report(task.StartedEvent, all[:2]...)
	h.report(task.ClaimedEvent, all[2])
	s.becomes(id, core.Open, "6 pending, 1 queued, 1 claimed, 2 running")
	err := s.master.Pause(t.Context(), id, "interrupted", true)
	s.must(err)
	for _, g := range all {
		h.toldStop(g)
	}
	h.end(task.Stopped, all[:2]...)
	h.report(task.ReturnedEvent, all[2:]...)
	s.becomes(id, core.Paused, "10 pending")
	if c := s.task(id, 0).Charged; c != (task.Retry{}) {
		t.Errorf("charged: %+v", c)
	}
	err = s.master.Resume(t.Context(), id, api.Continuation{})
	s.must(err)
	for _, g := range h.has(8)[4:] {
		if g.Number != 2 {
			t.Errorf("%+v", g)
		}
	}
}

func TestAKilledRunIsTakenUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	id := s.submit(6)
	all := h.has(4)
	h.report(task.StartedEvent, all[:2]...)
	h.end(task.Success, all[0])
	h.report(task.ClaimedEvent, all[2])
	s.becomes(id, core.Open, "2 pending, 1 queued, 1 claimed, 1 running, 1 succeeded")
	s.again(alone)
	s.becomes(id, core.Paused, "5 pending, 1 succeeded")
	if got := s.task(id, all[1].Index); got.Charged != (task.Retry{Lost: 1}) || got.Attempts != 1 {
		t.Errorf("what ran: %+v", got)
	}
	h = s.newHand("w1", 6)
	err := s.master.Resume(t.Context(), id, api.Continuation{})
	s.must(err)
	numbers := map[int64]int{}
	for _, g := range h.has(5) {
		numbers[g.Index] = g.Number
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	want := map[int64]int{all[1].Index: 2} // the others never began: their numbers are free
	for i := range int64(6) {
		if _, ok := want[i]; !ok && i != all[0].Index {
			want[i] = 1
		}
	}
	if diff := cmp.Diff(want, numbers); diff != "" {
		t.Error(diff)
	}
	s.becomes(id, core.Finished, "6 succeeded")
}

func TestRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 4)
	id := s.submit(4)
	all := h.has(4)
	for n, class := range []task.Class{task.Success, task.Error, task.TimedOut, task.Error} {
		h.report(task.StartedEvent, all[n])
		h.end(class, all[n])
	}
	s.becomes(id, core.Finished, "1 succeeded, 2 failed, 1 timeout")
	ctx := t.Context()
	if err := s.master.Retry(ctx, id, []int64{3}, false, api.Continuation{}); err != nil {
		t.Fatal(err)
	}
	g := h.has(5)[4]
	if g.Index != 3 || g.Number != 2 {
		t.Errorf("%+v", g)
	}
	h.report(task.StartedEvent, g)
	h.end(task.Success, g)
	s.becomes(id, core.Finished, "2 succeeded, 1 failed, 1 timeout")
	if err := s.master.Retry(ctx, "", nil, false, api.Continuation{Revision: "r2"}); err != nil {
		t.Fatal(err)
	}
	for _, g := range h.has(7)[5:] {
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	s.becomes(id, core.Finished, "4 succeeded")
	if err := s.master.Retry(ctx, id, nil, false, api.Continuation{Revision: "r3"}); err == nil ||
		s.head(id).State != core.Finished {
		t.Error(err)
	}
	if sw, err := s.store.Sweep(ctx, id); err != nil || sw.Record.Recipe.Revision != "r2" {
		t.Errorf("a retry of nothing moved it to %s, %v", sw.Record.Recipe.Revision, err)
	}
}

func TestRetryOfACancelledSweepRunsAllOfIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(3)
	err := s.master.Cancel(t.Context(), id, "oops")
	s.must(err)
	if err := s.master.Retry(t.Context(), id, []int64{1}, false, api.Continuation{}); err == nil {
		t.Error("one task that never had its turn cannot run alone")
	}
	if err := s.master.Retry(t.Context(), id, nil, false, api.Continuation{}); err != nil {
		t.Fatal(err)
	}
	s.newRunner("w1", 1, time.Millisecond)
	s.becomes(id, core.Finished, "3 succeeded")
}

func TestWhatCannotBeDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newRunner("w1", 1, time.Millisecond)
	done := s.submit(2)
	s.becomes(done, core.Finished, "2 succeeded")
	cancelled := s.submit(1, func(m *master.Submission) { m.Record.EachWorker = true })
	ctx := t.Context()
	_ = s.master.Cancel(ctx, cancelled, "x")
	for _, c := range []struct {
		name string
		do   func() error
		want string
	}{
		{"unknown sweep", func() error {
			return s.master.Cancel(ctx, "evaluate",
				"")
		}, "there is no sweep evaluate"},
		{"finished", func() error { return s.master.Cancel(ctx, done, "") },
			"train-1 is finished already"},
		{"pause", func() error { return s.master.Pause(ctx, done, "", false) },
			"train-1 is finished"},
		{"resume", func() error {
			return s.master.Resume(ctx, done, api.Continuation{})
		}, "train-1 is finished"},
		{"task", func() error {
			return s.master.CancelTask(ctx, task.ID{Sweep: done, Index: 1},
				"")
		}, "train-1/1 has succeeded already"},
		{"no task",
			func() error {
				return s.master.CancelTask(ctx, task.ID{Sweep: done, Index: 2},
					"")
			}, "train-1 has no task 2: it has 2"},
		{"negative",
			func() error {
				return s.master.CancelTask(ctx, task.ID{Sweep: done, Index: -1},
					"")
			}, "train-1 has no task -1: it has 2"},
		{"retry succeeded", func() error {
			return s.master.Retry(ctx, done, []int64{0}, false, api.Continuation{})
		}, "train-1/0 has succeeded; " +
			"only tasks that failed or were cancelled run again"},
		{"retry none", func() error {
			return s.master.Retry(ctx, done, []int64{7}, false, api.Continuation{})
		}, "train-1 has no task 7: it has 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(); err == nil || err.Error() != c.want {
				t.Errorf("%v; want %s", err, c.want)
			}
		})
	}
	if err := s.master.Do(ctx, func(context.Context) error {
		return errors.New("own")
	}); err == nil || err.Error() != "own" {
		t.Error(err)
	}
}
