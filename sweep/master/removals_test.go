package master_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// ranOn runs a sweep of one task on a new worker.
func (s *site) ranOn(name string) (id string, h *hand) {
	s.t.Helper()
	h = s.newRunner(name, 1, time.Millisecond)
	id = s.submit(1)
	s.becomes(id, core.Finished, "1 succeeded")
	return id, h
}

// removes answers the newest request to remove outputs of a sweep: with an error, why not. It
// returns of which tasks they are.
func (h *hand) removes(sweep, failure string) [][2]int64 {
	h.s.t.Helper()
	var last *task.Remove
	h.told("remove "+sweep, func(c task.Control) bool {
		if c.Kind == task.RemoveControl && c.Sweep == sweep && !h.answered[c.Remove.ID] {
			last = c.Remove
		}
		return last != nil
	})
	h.answered[last.ID] = true
	h.s.must(h.s.queue.Worker(h.name).SendPiece(context.Background(), task.Piece{
		Version: task.Version, Worker: h.name, ID: last.ID, Error: failure}))
	return last.Tasks
}

// removals waits until so much is still to be removed: "train-1 w1: REASON".
func (s *site) removals(want ...string) {
	s.t.Helper()
	var got []string
	s.poll("to be removed: "+strings.Join(want, ", "), func() bool {
		all, err := s.master.Removals(context.Background())
		s.must(err)
		got = nil
		for _, r := range all {
			text := r.Sweep + " " + r.Worker
			if r.Reason != nil {
				text += ": " + *r.Reason
			}
			got = append(got, text)
		}
		return slices.Equal(got, want)
	}, func() string { return strings.Join(got, ", ") })
}

// rows counts what the store has of a sweep that was stored.
func (s *site) rows(was store.Sweep) (n int) {
	s.t.Helper()
	for _, err := range s.store.Tasks(context.Background(), was, store.TaskQuery{}) {
		s.must(err)
		n++
	}
	return n
}

// A sweep that is removed is gone at once; its worker removes the outputs, and the master its rows.
// Its number is not used again.
func TestRemove(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		id, h := s.ranOn("w1")
		was, err := s.store.Sweep(t.Context(), id)
		s.must(err)
		s.must(s.master.Remove(t.Context(), id))
		if _, err := s.store.Sweep(t.Context(), id); err == nil ||
			err.Error() != "there is no sweep train-1 any more: it was removed" {
			t.Errorf("it is found: %v", err)
		}
		h.removes(id, "")
		s.removals()
		s.poll("its rows are gone", func() bool { return s.rows(was) == 0 },
			func() string { return fmt.Sprint(s.rows(was)) })
		if err := s.master.Remove(t.Context(), id); err == nil {
			t.Error("it was removed twice")
		}
		if id := s.submit(1); id != "train-2" {
			t.Errorf("the next sweep is %s", id)
		}
	})
}

// A removal survives the end of the master after each of its steps. A worker that is away, or that
// cannot remove now, is asked again.
func TestRemoveIsFinished(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		id, _ := s.ranOn("w1")
		s.must(s.master.Remove(t.Context(), id))
		s.again()
		const away = "train-1 w1: worker w1 is away: nothing was heard of it"
		s.removals(away)
		time.Sleep(time.Hour)
		s.removals("train-1 w1: worker w1 is away: no heartbeat for 2m0s")
		s.newHand("w1", 1).removes(id, "a task is still being stopped")
		s.removals("train-1 w1: a task is still being stopped")
		s.again()
		s.removals(away)
		h := s.newHand("w1", 1)
		h.told("remove", asksToRemove)
		s.again() // while it is asked
		s.newHand("w1", 1).removes(id, "")
		s.removals()
		s.again()
		h = s.newHand("w1", 1)
		h.beating(says("1", 1))
		time.Sleep(time.Minute)
		h.mu.Lock()
		defer h.mu.Unlock()
		if slices.ContainsFunc(h.controls, asksToRemove) {
			t.Error("it is asked to remove what it removed")
		}
	})
}

func asksToRemove(c task.Control) bool { return c.Kind == task.RemoveControl }

// Outputs of tasks are removed while the sweep stays. Tasks are not retried before that: the outputs
// of the next attempts could be meant. A worker that is forgotten does not prevent it.
func TestPrune(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: "1"},
			func(g given) *task.Outcome { return &task.Outcome{Class: task.Error, Left: 100} })
		id := s.submit(4)
		s.becomes(id, core.Finished, "4 failed")
		s.must(s.master.Prune(t.Context(), id, core.Ranges{{From: 1, To: 3}}))
		s.must(s.master.Prune(t.Context(), id, core.Ranges{{From: 2, To: 900}}))
		want := func(pruned core.Ranges, bytes int64) {
			t.Helper()
			now, err := s.store.Sweep(t.Context(), id)
			s.must(err)
			if diff := cmp.Diff(pruned, now.Record.Pruned); diff != "" || now.Head.Bytes != bytes {
				t.Errorf("%d bytes; -want +got:\n%s", now.Head.Bytes, diff)
			}
		}
		want(core.Ranges{{From: 1, To: 4}}, 100)
		retry := func() error {
			return s.master.Retry(t.Context(), id, []int64{3}, false, api.Continuation{})
		}
		err := retry()
		if _, is := errors.AsType[*core.WrongState](err); !is || !strings.HasPrefix(err.Error(),
			"train-1 has outputs that worker w1 is still to remove; ") {
			t.Errorf("a retry: %v", err)
		}
		var asked [][2]int64
		for range 2 {
			asked = append(asked, h.removes(id, "")...)
		}
		if diff := cmp.Diff([][2]int64{{1, 3}, {3, 4}}, asked); diff != "" {
			t.Errorf("to be removed: -want +got:\n%s", diff)
		}
		s.removals()
		s.must(retry())
		s.becomes(id, core.Finished, "4 failed")
		want(core.Ranges{{From: 1, To: 3}}, 200)
		s.must(s.master.Prune(t.Context(), id, core.Ranges{{From: 0, To: 1}}))
		time.Sleep(2 * core.DefaultLease)
		s.must(s.master.Forget(t.Context(), "w1"))
		s.removals()
	})
}

// What a worker still says of a removed sweep is dropped, and is no sign of a store that lost
// something.
func TestEventsOfARemovedSweep(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		id, h := s.ranOn("w1")
		s.must(s.master.Remove(t.Context(), id))
		h.end(task.Success, given{sweep: id, Attempt: task.Attempt{Number: 1}})
		h.beat(task.Heartbeat{Incarnation: "1", Slots: 1, Running: []task.Busy{{Sweep: id, Attempt: 1}}})
		h.toldStop(given{sweep: id, Attempt: task.Attempt{Number: 1}})
		if m := s.master.Missing(); len(m) > 0 {
			t.Errorf("missing: %v", m)
		}
		if id := s.submit(1); id != "train-2" {
			t.Errorf("the next sweep is %s", id)
		}
	})
}
