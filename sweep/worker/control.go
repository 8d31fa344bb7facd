package worker

import (
	"context"

	"mlframework/sweep/task"
)

// control handles the master's control messages until talking ends; attempts end with ctx. Each
// message may arrive twice.
func (w *Worker) control(talking, ctx context.Context) {
	said := 0
	for c := range w.port.Controls(talking) {
		if task.Foreign(c.Version) && c.Kind != task.StopControl {
			if said != c.Version {
				said = c.Version
				w.o.Log.Warn("ignoring control messages of another version, but for stops: "+
					task.Mismatch(task.Version, c.Version), "kind", c.Kind)
			}
			continue
		}
		w.handle(ctx, c)
	}
}

// handle carries out one control message.
func (w *Worker) handle(ctx context.Context, c task.Control) {
	switch c.Kind {
	case task.StopControl:
		w.scheduler.stop(key{c.Sweep, c.Index, c.Attempt})
	case task.RecallControl:
		w.scheduler.recall(c.Sweep)
	case task.FollowControl:
		w.jobs.followed.set(c.Sweep, !c.Off)
	case task.DrainControl:
		w.scheduler.drain(!c.Off)
		w.beatNow()
	case task.SlotsControl:
		w.resize(ctx, c.Slots)
		w.beatNow()
	case task.RestartControl:
		w.restart(c)
	case task.ReadControl, task.MeasureControl:
		w.reads.enqueue(c)
	case task.ForgetControl:
		if c.Measure != nil {
			w.reads.pending.forget(c.Measure.ID)
		}
	case task.RemoveControl:
		w.removals.enqueue(c)
	case task.SecretsControl:
		if err := w.secrets.receive(c); err != nil { // it is asked for again
			w.o.Log.Warn("cannot use the master's answer", "sweep", c.Sweep, "error", err)
			return
		}
		w.scheduler.wake()
	default:
		w.o.Log.Warn("unknown control message", "kind", c.Kind)
	}
}

// reject returns a batch of another protocol version and makes the worker accept nothing until the
// master lifts that with a message of a version that the worker can read. The master gets the
// reason before the returned attempts, so that it does not send them again.
func (w *Worker) reject(ctx context.Context, b task.Batch) {
	reason := task.Mismatch(task.Version, b.Version)
	if w.scheduler.reject(reason) {
		w.o.Log.Error("returning tasks that cannot be read", "reason", reason)
	}
	if w.port.SendHeartbeat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
	w.scheduler.rejectBatch(b)
}

// restart starts the shutdown of this process if the message is addressed to it: a late message
// must not end its successor.
func (w *Worker) restart(c task.Control) {
	if c.Incarnation != w.incarnation {
		return
	}
	if c.Taken && !w.nameTaken.Swap(true) {
		w.o.Log.Error("another process with this worker's name started later: "+
			"stopping what runs here", "name", w.o.Name)
	}
	w.scheduler.retire()
	w.beatNow()
	if c.Now {
		w.endNow()
	}
}

// endNow ends this process for a restart, and stops what it runs.
func (w *Worker) endNow() {
	select {
	case w.restartNow <- struct{}{}:
	default: // it was asked before
	}
}
