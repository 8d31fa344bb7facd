package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Demand is the tasks that would begin now: not those that run, back off, or are paused.
func TestDemand(t *testing.T) {
	t.Parallel()
	grid, _, err := space.Read("parameters.yml", []byte("i: !interval [0, 5]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := core.Load(core.Options{}, []core.Loaded{{
		Record: core.Record{Space: grid, Retry: task.Retry{Error: 1},
			Recipe: task.Recipe{Definition: "train"}},
		Head: core.Head{ID: "train-1", State: core.Open, Total: 5},
	}}, nil, at(0))
	demand := func(what string, now time.Time, want int64) {
		t.Helper()
		if got := c.Demand(now).Tasks; got != want {
			t.Errorf("%s: %d tasks; want %d", what, got, want)
		}
	}
	step := func(now time.Time, in core.Input) {
		t.Helper()
		out := c.Step(in, now)
		if _, err := out.Commit(func(*core.Rows) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	event := func(kind task.EventKind, o *task.Outcome) core.Event {
		return core.Event{Event: task.Event{Kind: kind, Worker: "w1", Sweep: "train-1", Attempt: 1,
			Outcome: o}}
	}
	demand("no worker is there", at(0), 5)
	step(at(1),
		core.Input{Heartbeats: []task.Heartbeat{{Worker: "w1", Incarnation: "1", Slots: 2}}})
	demand("what is on its way has not begun", at(1), 5)
	step(at(2), core.Input{Events: []core.Event{event(task.StartedEvent, nil)}})
	demand("one runs", at(2), 4)
	failed := &task.Outcome{Class: task.Error, Duration: time.Second}
	step(at(3), core.Input{Events: []core.Event{event(task.EndedEvent, failed)}})
	demand("it backs off", at(3), 4)
	demand("its back-off is over", at(10), 5)
	step(at(11), core.Input{Command: core.PauseSweep{Sweep: "train-1"}})
	demand("the sweep is paused", at(11), 0)
}
