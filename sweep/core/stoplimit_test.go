package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What a worker makes up costs no more than some messages a second, and others get theirs.
func TestStopsAreBounded(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	beat := func(worker string, running int) task.Heartbeat {
		h := task.Heartbeat{Worker: worker, Incarnation: "1", Slots: 1}
		for n := range running {
			h.Running = append(h.Running, task.Busy{Sweep: "none-1", Index: int64(n), Attempt: 1})
		}
		return h
	}
	stops := func(now time.Time, beats ...task.Heartbeat) map[string]int {
		t.Helper()
		out := c.Step(core.Input{Heartbeats: beats}, now)
		effects, err := out.Commit(func(*core.Rows) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int{}
		for _, m := range effects.Messages {
			if m.Control != nil && m.Control.Kind == task.StopControl {
				told[m.Worker]++
			}
		}
		return told
	}
	for n := range 20 {
		told := stops(at(0.01*float64(n)), beat("w1", 8192), beat("w2", 3))
		if n == 0 && told["w1"] != core.MostStops || n > 0 && told["w1"] != 0 || told["w2"] != 3 {
			t.Errorf("heartbeat %d: %v", n, told)
		}
	}
	if told := stops(at(1.5), beat("w1", 3)); told["w1"] != 3 {
		t.Errorf("a second later: %v", told)
	}
}
