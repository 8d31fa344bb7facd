package worker

import (
	"context"

	"mlframework/sweep/task"
)

// obey does what the master's control messages ask, until talking ends; attempts end with ctx. Each may come twice.
func (w *Worker) obey(talking, ctx context.Context) {
	said := 0
	for c := range w.port.Controls(talking) {
		if c.Version > task.Newest {
			if said != c.Version {
				said = c.Version
				w.o.Log.Warn("control message of a newer version ignored, and all that follow it: update the worker", "kind", c.Kind, "version", c.Version, "understood", task.Newest)
			}
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
	case task.RestartControl:
		w.restart(c)
	case task.ReadControl, task.MeasureControl:
		w.reads.ask(c)
	case task.ForgetControl:
		if c.Measure != nil {
			w.reads.awaited.forget(c.Measure.ID)
		}
	case task.SecretsControl:
		if err := w.secrets.answer(c); err != nil { // it is asked for again
			w.o.Log.Warn("an answer of the master cannot be used", "sweep", c.Sweep, "error", err)
			return
		}
		w.desk.wake()
	default:
		w.o.Log.Warn("control message not understood", "kind", c.Kind)
	}
}
