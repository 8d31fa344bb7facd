package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What workers tell of a damaged sweep is held and changes nothing, and what they run of it is not
// stopped; what they run of a sweep that is in no store is.
func TestDamagedSweepIsLeftAlone(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{Damaged: []string{"train-1"}}, nil, nil, at(0))
	told := map[string]bool{}
	for second := range 5 {
		h := beatOf("1")
		h.Key, h.Needs = []byte("key"), []task.Need{{Sweep: "train-1"}}
		h.Running = []task.Busy{{Sweep: "train-1", Attempt: 1}, {Sweep: "none-1", Attempt: 1}}
		e := task.Event{Version: task.Version, Kind: task.EndedEvent, Worker: "w", Sweep: "train-1",
			Attempt: 1, Outcome: &task.Outcome{Class: task.Success}}
		in := core.Input{Heartbeats: []task.Heartbeat{h}, Events: []core.Event{{Event: e}}}
		out := c.Step(in, at(float64(second)))
		effects, err := out.Commit(func(rows *core.Rows) error {
			if diff := cmp.Diff([]task.Event{e}, rows.Held); diff != "" {
				t.Errorf("held: -want +got:\n%s", diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range effects.Messages {
			if m.Control != nil && m.Control.Sweep != "" {
				told[m.Control.Sweep] = true
			}
		}
		if len(effects.Changed) > 0 {
			t.Errorf("a sweep changed: %+v", effects.Changed)
		}
	}
	if told["train-1"] || !told["none-1"] || len(c.Missing()) > 0 {
		t.Errorf("the worker is told of %v, and %v are missing", told, c.Missing())
	}
}
