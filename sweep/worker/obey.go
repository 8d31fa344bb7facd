package worker

import (
	"context"

	"mlframework/sweep/task"
)

// obey does what the master's control messages ask, until talking ends; attempts end with ctx. Each may come twice.
func (w *Worker) obey(talking, ctx context.Context) {
	for c := range w.port.Controls(talking) {
		if c.Version > task.Version {
			w.o.Log.Warn("control message of a newer version ignored", "kind", c.Kind, "version", c.Version, "understood", task.Version)
			continue
		}
		w.do(ctx, c)
	}
}

func (w *Worker) do(ctx context.Context, c task.Control) {
	switch c.Kind {
	case task.StopControl:
		w.desk.stop(key{c.Sweep, c.Index, c.Attempt})
	case task.RecallControl:
		w.desk.recall(c.Sweep)
	case task.FollowControl:
		w.jobs.following.set(c.Sweep, !c.Off)
	case task.DrainControl:
		w.desk.drain(!c.Off)
		w.beatNow()
	case task.SlotsControl:
		w.resize(ctx, c.Slots)
		w.beatNow()
	case task.ReadControl:
		w.reads.ask(c)
	default:
		w.o.Log.Warn("control message not understood", "kind", c.Kind)
	}
}
