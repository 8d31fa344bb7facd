package worker

import (
	"context"
	"time"

	"mlframework/sweep/task"
)

// interval is the time between two heartbeats.
const interval = 2 * time.Second

// heartbeat is what the worker says of itself now.
func (w *Worker) heartbeat() task.Heartbeat {
	h := task.Heartbeat{Version: task.Version, Worker: w.o.Name, Incarnation: w.incarnation, Time: time.Now(), Program: w.o.Program, Host: w.o.Host,
		Image: w.o.Image, Environment: w.o.Environment, Unconfined: w.o.Unconfined, Unsent: w.outbox.unsent(), Load: w.meter.load(),
		Reads: task.Newest, Key: w.secrets.key.Public()}
	w.desk.show(&h)
	return h
}

// self tells that the worker has begun or ends, in line with the events of its attempts, and whether these tell all that began.
func (w *Worker) self(kind task.Kind, told bool) {
	h := w.heartbeat()
	h.Told = told
	w.outbox.put(task.Event{Version: task.Version, Kind: kind, Worker: w.o.Name, Time: time.Now(), Beat: &h})
}

// soon is after how long a heartbeat is tried again that the queue did not take, then twice as long, up to a quarter of
// interval: a worker that was cut off is missed.
const soon = 50 * time.Millisecond

// beat sends heartbeats: at the start, every two seconds, and when the worker's state changes. Why the queue takes none
// it says itself.
func (w *Worker) beat(ctx context.Context) {
	for again := soon; ctx.Err() == nil; {
		next := interval
		h := w.heartbeat()
		if err := w.port.Beat(ctx, h); err != nil {
			next, again = again, min(2*again, interval/4)
		} else if again = soon; w.secrets.asked(h.Needs, time.Now()) {
			w.o.Log.Error("attempts cannot run for want of their secrets", "error", errNoSecrets)
			w.desk.wake()
		}
		select {
		case <-time.After(next):
		case <-w.beats:
		case <-ctx.Done():
		}
	}
}

// beatNow asks for a heartbeat before its time.
func (w *Worker) beatNow() {
	select {
	case w.beats <- struct{}{}:
	default: // one is due already
	}
}
