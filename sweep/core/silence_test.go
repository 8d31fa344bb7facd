package core_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Followers of a sweep are told every second how long a worker with tasks of the sweep has sent no
// heartbeat, until it reconnects. Queries about such a task return the same text.
func TestMissingHeartbeatsAreReported(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{Lease: 12 * time.Second}, []core.Loaded{{Seq: 1,
		Record: core.Record{Space: spaceOf(t, "i: [1]"), Retry: task.Retry{Lost: 1}},
		Head:   core.Head{ID: "train-1", State: core.Open, Total: 1}}}, nil, at(0))
	h := beatOf("1")
	step := func(in core.Input, second int) (text string, new bool) {
		for _, r := range effectsOf(c, in, at(float64(second))).Blocked {
			text, new = r.Head.Silent, true
		}
		return text, new
	}
	step(core.Input{Heartbeats: []task.Heartbeat{h}}, 0)
	step(core.Input{Events: []core.Event{{Event: task.Event{Version: task.Version,
		Kind: task.StartedEvent, Worker: "w", Sweep: "train-1", Attempt: 1}}}}, 1)
	h.Running = []task.Busy{{Sweep: "train-1", Attempt: 1}}
	step(core.Input{Heartbeats: []task.Heartbeat{h}}, 2)
	const prefix = "no heartbeat from w for "
	for second := 3; second < 30; second++ {
		want := ""
		switch silent := time.Duration(second-2) * time.Second; {
		case silent >= 12*time.Second:
			want = prefix + silent.String() +
				": its task continues if the worker reconnects before it is rescheduled"
		case silent >= 10*time.Second:
			want = prefix + silent.String() + ": its task is rescheduled when that reaches 12s"
		}
		if got, new := step(core.Input{}, second); got != want || new != (want != "") {
			t.Errorf("in second %d: %q, want %q", second, got, want)
		}
	}
	const one = prefix + "27s: the task continues if the worker reconnects before it is rescheduled"
	if got := c.Blocked("train-1")[0]; got != one {
		t.Errorf("the task's text: %q", got)
	}
	if got, new := step(core.Input{Heartbeats: []task.Heartbeat{h}}, 30); got != "" || !new {
		t.Errorf("after it reconnects: %q", got)
	}
	if head, _ := c.Head("train-1"); head.Rows[task.Running] != 1 || c.Blocked("train-1")[0] != "" {
		t.Errorf("after it reconnects: %+v", head)
	}
}
