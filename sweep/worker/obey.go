package worker

import (
	"context"
	"time"

	"mlframework/sweep/task"
)

// interval is the time between two heartbeats.
const interval = 2 * time.Second

// obey does what the master's control messages ask. Each may come twice.
func (w *Worker) obey(ctx context.Context) {
	for c := range w.port.Controls(ctx) {
		if c.Version > task.Version {
			w.o.Log.Warn("control message of a newer version ignored", "kind", c.Kind, "version", c.Version, "understood", task.Version)
			continue
		}
		switch c.Kind {
		case task.StopControl:
			w.report(task.ReturnedEvent, w.desk.stop(key{c.Sweep, c.Index, c.Attempt}))
		case task.RecallControl:
			w.report(task.ReturnedEvent, w.desk.recall(c.Sweep))
		case task.FollowControl:
			w.jobs.following.set(c.Sweep, !c.Off)
		case task.DrainControl:
			w.report(task.ReturnedEvent, w.desk.drain(!c.Off))
			select {
			case w.beats <- struct{}{}:
			default: // one is due already
			}
		default:
			w.o.Log.Warn("control message not understood", "kind", c.Kind)
		}
	}
}

// beat sends heartbeats: at the start, every two seconds, and when the worker's state changes.
func (w *Worker) beat(ctx context.Context) {
	h := task.Heartbeat{Version: task.Version, Worker: w.o.Name, Host: w.o.Host, Slots: w.o.Slots,
		Incarnation: time.Now().UTC().Format(time.RFC3339Nano)}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		h.Draining = w.desk.draining()
		if err := w.port.Beat(ctx, h); err != nil {
			w.o.Log.Warn("heartbeat not sent", "error", err)
		}
		select {
		case <-ticker.C:
		case <-w.beats:
		case <-ctx.Done():
		}
	}
}
