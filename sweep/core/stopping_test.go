package core_test

import (
	"errors"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// TestAWorkerThatEndsGetsNothing: a worker whose process ends is no worker that was drained.
// Letting it go on changes nothing, it is not asked to every time, and it cannot be asked to
// restart.
func TestAWorkerThatEndsGetsNothing(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, []core.Loaded{{Seq: 1,
		Record: core.Record{Space: new(space.Space)},
		Head:   core.Head{ID: "train-1", State: core.Open, Total: 1}}}, nil, at(0))
	h := beatOf("1")
	h.Draining, h.Closing = true, true
	effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{h}}, at(0))
	if w := c.Workers()[0]; w.State != core.WorkerStopping {
		t.Errorf("the worker is %+v", w)
	}
	for second, in := range []core.Input{
		{Command: core.DrainWorker{Worker: "w", Off: true}},
		{},
		{Heartbeats: []task.Heartbeat{h}},
	} {
		for _, m := range effectsOf(c, in, at(float64(second))).Messages {
			if len(m.Batches) > 0 || in.Command == nil && m.Control.Kind == task.DrainControl {
				t.Errorf("after %d s it is sent %+v", second, m)
			}
		}
	}
	refused := effectsOf(c, core.Input{Command: core.RestartWorker{Worker: "w"}}, at(3)).Err
	if !errors.As(refused, new(*core.WrongState)) {
		t.Errorf("it is asked to restart: %v", refused)
	}
	h = beatOf("2")
	effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{h}}, at(4))
	joined := core.Event{Event: task.Event{Version: task.Version, Kind: task.JoinedEvent,
		Worker: "w", Heartbeat: &h}}
	effectsOf(c, core.Input{Events: []core.Event{joined}}, at(5))
	if w := c.Workers()[0]; w.State != core.WorkerReady || w.Held == 0 {
		t.Errorf("its next process is %+v", w)
	}
}
