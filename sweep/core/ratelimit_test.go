package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
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

// Whatever a worker repeats, it fills no log, and what others do is logged.
func TestLogLinesOfAWorkerAreBounded(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func(n int) core.Input{
		"versions by turns": func(n int) core.Input {
			return core.Input{Heartbeats: []task.Heartbeat{{Version: task.Version + n%2,
				Worker: "w1", Incarnation: "1", Slots: 1}}}
		},
		"newer events": func(n int) core.Input {
			return core.Input{Events: []core.Event{{Event: task.Event{Worker: "w1",
				Version: task.Version + 1 + n%2}}}}
		},
		"newer events of nobody": func(int) core.Input {
			return core.Input{Events: []core.Event{{Event: task.Event{Version: task.Version + 1,
				Worker: "nobody"}}}}
		},
		"processes by turns": func(n int) core.Input {
			return core.Input{Heartbeats: []task.Heartbeat{{Version: task.Version, Worker: "w1",
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
			other := []task.Heartbeat{{Version: task.Version + 1, Worker: "w2"}}
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

// A worker whose processes follow each other without end, and are sent secrets each, has an entry
// of that in a minute, which says how many had none.
func TestReleasesOfSecretsFillNoAudit(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	var details []string
	starts := func(incarnation, seconds int) {
		t.Helper()
		beat := beatOf(fmt.Sprint(incarnation))
		beat.Key = []byte("key")
		beat.Needs = []task.Need{{Sweep: "train-1", Edition: "e"}}
		for range 2 { // it asks until they come
			out := c.Step(core.Input{Heartbeats: []task.Heartbeat{beat},
				Events: []core.Event{{Event: task.Event{Version: task.Version,
					Kind: task.JoinedEvent, Worker: "w", Heartbeat: &beat}}}}, at(float64(seconds)))
			if _, err := out.Commit(func(rows *core.Rows) error {
				for _, e := range rows.Audit {
					if e.Action == "release-secrets" {
						details = append(details, e.Detail)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	starts(100, 0)
	record := core.Record{Space: new(space.Space), Recipe: task.Recipe{Secrets: []string{"KEY"}}}
	c.Add(core.Loaded{Seq: 1, Edition: "e", Record: record,
		Head: core.Head{ID: "train-1", State: core.Open, Total: 1}})
	starts(100, 1) // and is given the task
	for n := range 50 {
		starts(101+n, 2)
	}
	starts(200, 62)
	want := []string{"worker=w process=100", "worker=w process=200 not-recorded=50"}
	if !slices.Equal(details, want) {
		t.Errorf("the audit has %d entries: %.200q; want %q", len(details), details, want)
	}
}
