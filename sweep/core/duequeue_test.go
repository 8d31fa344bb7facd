package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// A task whose back-off ends goes to its worker at once, also where another task of the sweep waits
// that only another worker may have.
func TestBackOffEndsBesideAnother(t *testing.T) {
	t.Parallel()
	grid, _, err := space.Read("parameters.yml", []byte("i: [0, 1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := core.Load(core.Options{}, []core.Loaded{{
		Seq: 1, Record: core.Record{Space: grid, Retry: task.Retry{Error: 1}},
		Head: core.Head{ID: "train-1", State: core.Open, Total: 2},
	}}, nil, at(0))
	step := func(seconds float64, in core.Input) map[string][]int64 {
		got := map[string][]int64{}
		for _, m := range effectsOf(c, in, at(seconds)).Messages {
			for _, b := range m.Batches {
				for _, a := range b.Attempts {
					got[m.Worker] = append(got[m.Worker], a.Index)
				}
			}
		}
		return got
	}
	beats := []task.Heartbeat{{Worker: "w0", Incarnation: "1", Slots: 1},
		{Worker: "w1", Incarnation: "1", Slots: 1}, {Worker: "w2", Incarnation: "1", Slots: 1}}
	if got := step(0, core.Input{Heartbeats: beats}); len(got["w0"]) != 1 || len(got["w1"]) != 1 {
		t.Fatalf("the workers got %v", got)
	}
	fail := func(index int64, worker string) core.Input {
		e := task.Event{Kind: task.EndedEvent, Worker: worker, Sweep: "train-1", Index: index,
			Attempt: 1, Start: &task.Start{},
			Outcome: &task.Outcome{Class: task.Error, Duration: time.Second}}
		return core.Input{Events: []core.Event{{Event: e}}}
	}
	step(0.5, fail(0, "w0"))
	step(0.6, core.Input{Command: core.DrainWorker{Worker: "w0"}})
	step(0.8, fail(1, "w1"))
	step(1.4, core.Input{}) // a tick
	if got := step(1.5, core.Input{}); len(got) > 0 {
		t.Errorf("what prefers w0 went to others: %v", got)
	}
	if next := c.Next(); !next.Equal(at(1.8)) {
		t.Errorf("the next step is due at %v", next.Sub(at(0)))
	}
	if got := step(1.8, core.Input{}); len(got["w1"]) != 1 || got["w1"][0] != 1 {
		t.Errorf("after the back-off of task 1 the workers got %v", got)
	}
}
