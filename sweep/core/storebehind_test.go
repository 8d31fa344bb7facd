package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// However many tasks and sweeps a worker makes up, so many are remembered and logged, and what
// others tell is not kept out.
func TestMissingIsBoundedForEachWorker(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	told := func(worker, sweep string, index int64) core.Event {
		return core.Event{Event: task.Event{Version: task.Version, Kind: task.StartedEvent,
			Worker: worker, Sweep: sweep, Index: index, Attempt: 1}}
	}
	var events []core.Event
	unknown := map[string]bool{"lost-1": true, "again-1": true}
	for n := range 3 * core.MostMissing {
		unknown[fmt.Sprint("none-", n%200)] = true
		events = append(events, told("w1", fmt.Sprint("none-", n%200), int64(n)))
	}
	events = append(events, told("w2", "lost-1", 1), told("w2", "lost-1", 2))
	out := c.Step(core.Input{Events: events, Unknown: unknown}, at(1))
	tasks, sweeps, others := 0, 0, ""
	for _, m := range c.Missing() {
		if slices.Contains(m.Workers, "w1") {
			tasks, sweeps = tasks+m.Tasks, sweeps+1
		} else {
			others += fmt.Sprint(m.Sweep, " ", m.Tasks, m.Workers)
		}
	}
	if sweeps != core.MostMissingSweeps || tasks > core.MostMissing || others != "lost-1 2 [w2]" {
		t.Errorf("of w1 %d sweeps with %d tasks are remembered, of w2 %q", sweeps, tasks, others)
	}
	lines := 0
	for _, l := range out.Log {
		if strings.Contains(l.Text, "unknown sweep") {
			lines++
		}
	}
	if lines != core.MostMissingSweeps+1 {
		t.Errorf("%d lines were logged", lines)
	}
	c.Step(core.Input{}, at(5000)) // no worker has reported them for an hour
	c.Step(core.Input{Events: []core.Event{told("w1", "again-1", 1)}, Unknown: unknown}, at(5001))
	if all := c.Missing(); len(all) != 1 || all[0].Tasks != 1 {
		t.Errorf("later %v is remembered", all)
	}
}
