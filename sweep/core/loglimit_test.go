package core_test

import (
	"fmt"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Whatever a worker repeats, it fills no log, and what others do is logged.
func TestLogLinesOfAWorkerAreBounded(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func(n int) core.Input{
		"versions by turns": func(n int) core.Input {
			return core.Input{Heartbeats: []task.Heartbeat{{Version: task.Newest + n%2,
				Worker: "w1", Incarnation: "1", Slots: 1}}}
		},
		"newer events": func(n int) core.Input {
			return core.Input{Events: []core.Event{{Event: task.Event{Worker: "w1",
				Version: task.Newest + 1 + n%2}}}}
		},
		"newer events of nobody": func(int) core.Input {
			return core.Input{Events: []core.Event{{Event: task.Event{Version: task.Newest + 1,
				Worker: "nobody"}}}}
		},
		"processes by turns": func(n int) core.Input {
			return core.Input{Heartbeats: []task.Heartbeat{{Version: task.Newest, Worker: "w1",
				Incarnation: fmt.Sprint(1 + n%2), Slots: 1}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := core.Load(core.Options{}, nil, nil, at(0))
			c.Step(core.Input{Heartbeats: []task.Heartbeat{{Version: task.Version, Worker: "w1",
				Incarnation: "1", Slots: 1}}}, at(0))
			lines := 0
			for n := range 1000 {
				lines += len(c.Step(says(n), at(1+float64(n)/1000)).Log)
			}
			if lines == 0 || lines > core.MostLogLines+1 { // and one of two processes
				t.Errorf("%d lines were logged", lines)
			}
			other := []task.Heartbeat{{Version: task.Newest + 1, Worker: "w2"}}
			if out := c.Step(core.Input{Heartbeats: other}, at(3)); len(out.Log) != 1 {
				t.Errorf("of another worker is logged: %v", out.Log)
			}
			lines = 0
			for n := range 4 {
				lines += len(c.Step(says(n), at(70+float64(n))).Log)
			}
			if lines == 0 {
				t.Error("a minute later nothing is logged")
			}
		})
	}
}
