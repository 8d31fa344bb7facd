package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// TestFailedAlike: a sweep is paused if its first tasks all failed alike and soon, unless it keeps
// going or has max-failures, or nothing is left to run.
func TestFailedAlike(t *testing.T) {
	t.Parallel()
	const missing = "exit code 2: unrecognized arguments: --lr="
	ended := func(class task.Class, reason string, took time.Duration) task.Outcome {
		return task.Outcome{Class: class, Reason: reason, Duration: took}
	}
	bad := func(value string) task.Outcome { return ended(task.Error, missing+value, time.Second) }
	for name, c := range map[string]struct {
		record core.Record
		total  int64
		runs   int // tasks that have started before the first ends
		ends   []task.Outcome
		paused string
	}{
		"alike": {total: 9, ends: []task.Outcome{bad("1"), bad("2"), bad("0.3")},
			paused: "the first tasks all failed for the same reason: 3 x error: " + missing + "0.3"},
		"two only":    {total: 9, ends: []task.Outcome{bad("1"), bad("2")}},
		"as many run": {total: 9, runs: 5, ends: []task.Outcome{bad("1"), bad("2")}},
		"the last of them": {total: 9, runs: 4, ends: []task.Outcome{bad("1"), bad("2"), bad("3")},
			paused: "the first tasks all failed for the same reason: 3 x error: " + missing + "3"},
		"another reason": {total: 9, ends: []task.Outcome{bad("1"), bad("2"),
			ended(task.Error, "exit code 1: KeyError", time.Second), bad("3")}},
		"one succeeded": {total: 9, ends: []task.Outcome{ended(task.Success, "", time.Second),
			bad("1"), bad("2"), bad("3"), bad("4")}},
		"after an hour": {total: 9, ends: []task.Outcome{bad("1"), bad("2"),
			ended(task.Error, missing+"3", time.Hour), bad("4")}},
		"timeouts": {total: 9, ends: []task.Outcome{ended(task.TimedOut, "5s", time.Second),
			ended(task.TimedOut, "5s", time.Second), ended(task.TimedOut, "5s", time.Second)}},
		"nothing left": {total: 3, ends: []task.Outcome{bad("1"), bad("2"), bad("3")}},
		"it keeps going": {record: core.Record{KeepGoing: true}, total: 9,
			ends: []task.Outcome{bad("1"), bad("2"), bad("3")}},
		"max-failures": {record: core.Record{MaxFailures: 100}, total: 9,
			ends: []task.Outcome{bad("1"), bad("2"), bad("3")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(c.record, c.total)
			b.place(int(c.total), "w")
			for i := range max(c.runs, len(c.ends)) {
				b.event(task.ClaimedEvent, int64(i), nil)
				if i < c.runs {
					b.event(task.StartedEvent, int64(i), nil)
				}
			}
			for i := range c.ends {
				b.event(task.EndedEvent, int64(i), &c.ends[i])
			}
			want := core.Open
			switch {
			case c.paused != "":
				want = core.Paused
			case c.total == int64(len(c.ends)):
				want = core.Finished
			}
			if h := b.store.head; h.State != want || h.Reason != c.paused {
				t.Errorf("%s: %q", h.State, h.Reason)
			}
		})
	}
}

// TestFailedAlikeAgain: a sweep that goes on after that is paused again if its next tasks fail
// alike.
func TestFailedAlikeAgain(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 9)
	b.place(9, "w")
	for i := range int64(3) {
		b.run(i, task.Error)
	}
	b.Resume(at(1))
	b.run(3, task.Error)
	b.run(4, task.Error)
	if h := b.store.head; h.State != core.Open {
		t.Fatalf("%s after two more failures: %q", h.State, h.Reason)
	}
	b.run(5, task.Error)
	if h := b.store.head; h.State != core.Paused {
		t.Errorf("%s: %q", h.State, h.Reason)
	}
}
