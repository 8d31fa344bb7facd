package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// TestClock lets a sweep of one task wait for a worker and behind another sweep, run, wait in a
// pause, and run again after a retry.
func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newModel(core.Record{}, 1).ledger()
	after := func(d time.Duration) time.Time {
		now = now.Add(d)
		l.Clock(now)
		return now
	}
	event := func(kind task.EventKind, attempt int, o *task.Outcome) {
		l.Event(&task.Event{Kind: kind, Worker: "w1", Sweep: "train-1", Attempt: attempt,
			Start: &task.Start{}, Outcome: o}, now)
	}
	behind := time.Duration(0)
	offer := core.Offer{Worker: "w1", Tasks: 1, Empty: true, Fitting: 1}
	run := func(attempt int, d time.Duration) {
		t.Helper()
		if placed := l.Place(offer, now); len(placed) != 1 {
			t.Fatalf("%d tasks are placed; want 1", len(placed))
		}
		after(behind) // its worker runs tasks of another sweep before
		event(task.ClaimedEvent, attempt, nil)
		after(behind)
		event(task.StartedEvent, attempt, nil)
		after(d)
		event(task.EndedEvent, attempt, &task.Outcome{Class: task.Error, Duration: d})
	}
	after(0)
	after(time.Hour) // no worker is there
	behind = time.Hour
	run(1, 2*time.Minute)
	after(time.Hour) // it has failed
	if ran := l.Head().Ran; ran != 2*time.Minute {
		t.Errorf("after the first attempt it ran for %v; want 2m0s", ran)
	}
	l.Reopen(l.TakeChanges().Tasks, false, false)
	run(2, time.Minute)
	after(time.Hour)
	if h := l.Head(); h.Ran != 3*time.Minute || h.Ended.IsZero() {
		t.Errorf("it ran for %v and ended at %v; want 3m0s, and that it ended", h.Ran, h.Ended)
	}
}

// A sweep ran for as long as its longest attempt, also where start and end are told at the same
// time.
func TestClockOfAShortTask(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newModel(core.Record{}, 1).ledger()
	l.Clock(now)
	l.Place(core.Offer{Worker: "w1", Tasks: 1, Empty: true,
		Fitting: 1}, now)
	now = now.Add(time.Hour)
	l.Clock(now)
	for _, kind := range []task.EventKind{task.ClaimedEvent, task.StartedEvent, task.EndedEvent} {
		l.Event(&task.Event{Kind: kind, Worker: "w1", Sweep: "train-1", Attempt: 1,
			Start:   &task.Start{},
			Outcome: &task.Outcome{Class: task.Success, Duration: 3 * time.Millisecond}}, now)
	}
	if h := l.Head(); h.Ran != 3*time.Millisecond || h.Ended.IsZero() {
		t.Errorf("it ran for %v and ended at %v; want 3ms, and that it ended", h.Ran, h.Ended)
	}
}
