package worker

import (
	"context"
	"runtime"
	"time"

	"mlframework/sweep/task"
)

// heartbeatInterval is the time between two heartbeats.
const heartbeatInterval = 2 * time.Second

// heartbeat returns the current heartbeat of the worker.
func (w *Worker) heartbeat() task.Heartbeat {
	h := task.Heartbeat{Version: task.Version, Worker: w.o.Name, Incarnation: w.incarnation,
		Time: time.Now(), Program: w.o.Program, Host: w.o.Host, Boot: w.boot,
		Image: w.o.Image, Environment: w.o.Container, Unconfined: w.o.Unconfined,
		CPUs: runtime.NumCPU(), Labels: w.o.Labels,
		Unsent: w.outbox.unsent(), Load: w.meter.load(),
		Key: w.secrets.key.Public()}
	if h.Load != nil {
		h.Memory = h.Load.MemoryTotal
	}
	w.scheduler.describe(&h)
	return h
}

// reportSelf puts a joined or left event into the outbox, in order with the events of attempts.
// told says whether these include every start.
func (w *Worker) reportSelf(kind task.EventKind, told bool) {
	h := w.heartbeat()
	h.StartsReported = told
	w.outbox.put(task.Event{Version: task.Version, Kind: kind, Worker: w.o.Name, Time: time.Now(),
		Heartbeat: &h})
}

// firstRetry is the delay before a heartbeat that the queue did not accept is sent again. It
// doubles up to a quarter of heartbeatInterval, so that a worker that was cut off is seen again
// soon.
const firstRetry = 50 * time.Millisecond

// beat sends heartbeats: at the start, every two seconds, and when the state of the worker changes.
// The queue itself logs why it accepts none.
func (w *Worker) beat(ctx context.Context) {
	for again := firstRetry; ctx.Err() == nil; {
		next := heartbeatInterval
		h := w.heartbeat()
		if err := w.port.SendHeartbeat(ctx, h); err != nil {
			next, again = again, min(2*again, heartbeatInterval/4)
		} else if again = firstRetry; w.secrets.expire(h.Needs, time.Now()) {
			w.o.Log.Error("attempts cannot run without their secrets", "error", errNoSecrets)
			w.scheduler.wake()
		}
		select {
		case <-time.After(next):
		case <-w.beatRequests:
		case <-ctx.Done():
		}
	}
}

// beatNow requests an immediate heartbeat.
func (w *Worker) beatNow() {
	select {
	case w.beatRequests <- struct{}{}:
	default: // one is due already
	}
}
