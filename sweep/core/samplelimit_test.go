package core_test

import (
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// However many samples a worker sends of an attempt, a bounded number is kept, and that is logged
// once. What it says beside them is taken.
func TestSamplesOfAnAttemptAreBounded(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"loss": 48_000, strings.Repeat("m", 4000): 500} {
		c, _ := core.Load(core.Options{}, nil, nil, at(0))
		c.Add(core.Loaded{Seq: 1, Record: core.Record{Space: new(space.Space)},
			Head: core.Head{ID: "train-1", State: core.Open, Total: 1}})
		effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{beatOf("1")}}, at(0))
		e := task.Event{Version: task.Version, Kind: task.StartedEvent, Worker: "w",
			Sweep: "train-1", Attempt: 1, Time: at(1)}
		effectsOf(c, core.Input{Events: []core.Event{{Event: e}}}, at(1))
		e.Kind = task.SamplesEvent
		for range 100 {
			e.Samples = append(e.Samples, metric.Sample{Name: name})
		}
		kept, lines := 0, 0
		for range 1000 {
			out := c.Step(core.Input{Events: []core.Event{{Event: e}}}, at(2))
			lines += len(out.Log)
			if _, err := out.Commit(func(rows *core.Rows) error {
				for i := range rows.Sweeps {
					for _, s := range rows.Sweeps[i].Changes.Samples {
						kept += len(s.Points)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if kept == 0 || kept > most || lines != 1 {
			t.Errorf("%.8s: %d samples are kept, at most %d may be; %d lines in the log", name,
				kept, most, lines)
		}
	}
}
