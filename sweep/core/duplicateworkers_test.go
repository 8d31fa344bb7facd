package core_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// beatOf is a heartbeat of a process of worker w.
func beatOf(incarnation string) task.Heartbeat {
	return task.Heartbeat{Version: task.Version, Worker: "w", Incarnation: incarnation, Host: "h",
		Slots: 1}
}

// effectsOf takes a step of which nothing is kept.
func effectsOf(c *core.Core, in core.Input, now time.Time) core.Effects {
	out := c.Step(in, now)
	effects, _ := out.Commit(func(*core.Rows) error { return nil })
	return effects
}

// TestThreeProcessesOfOneName: those that began before the newest are told to end, each of them.
func TestThreeProcessesOfOneName(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	told := map[string]bool{}
	for second := range 8 {
		for _, incarnation := range []string{"1", "2", "3"} {
			in := core.Input{Heartbeats: []task.Heartbeat{beatOf(incarnation)}}
			for _, m := range effectsOf(c, in, at(float64(2*second))).Messages {
				if m.Control != nil && m.Control.Kind == task.RestartControl && m.Control.Taken {
					told[m.Control.Incarnation] = true
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]bool{"1": true, "2": true}, told); diff != "" {
		t.Errorf("told to end -want +got:\n%s", diff)
	}
}

// TestNewestProcessNeverSpeaks: a process registers and dies before its first heartbeat. The one
// that lives beside it, and began before, gets tasks again after a lease.
func TestNewestProcessNeverSpeaks(t *testing.T) {
	t.Parallel()
	lease := 10 * time.Second
	c, _ := core.Load(core.Options{Lease: lease}, nil, nil, at(0))
	joined := beatOf("2")
	effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{beatOf("1")},
		Events: []core.Event{{Event: task.Event{Version: task.Version, Kind: task.JoinedEvent,
			Worker: "w", Heartbeat: &joined}}}}, at(0))
	c.Add(core.Loaded{Seq: 1, Record: core.Record{Space: new(space.Space)},
		Head: core.Head{ID: "train-1", State: core.Open, Total: 1}})
	for second := range 30 {
		in := core.Input{Heartbeats: []task.Heartbeat{beatOf("1")}}
		for _, m := range effectsOf(c, in, at(float64(second))).Messages {
			if len(m.Batches) > 0 {
				if now := time.Duration(second) * time.Second; now < lease {
					t.Errorf("it gets tasks after %v", now)
				}
				return
			}
		}
	}
	t.Errorf("it gets no task in 30 s, and is %s", c.Workers()[0].State)
}
