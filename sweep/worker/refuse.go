package worker

import (
	"context"
	"fmt"

	"mlframework/sweep/task"
)

// refuse gives back what came in a batch of a newer version, and from then on takes nothing until the master asks for that
// in a version that is read. The master hears why before it hears of what comes back, so that it does not send it again.
func (w *Worker) refuse(ctx context.Context, b task.Batch) {
	reason := fmt.Sprintf("the master speaks version %d and this worker reads up to %d: update the worker", b.Version, task.Newest)
	if w.desk.refuse(reason) {
		w.o.Log.Error("tasks are given back, as they cannot be read", "reason", reason)
	}
	if w.port.Beat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
	w.desk.giveUp(b)
}

// refuse lets the desk take nothing new, and tells whether that is news.
func (d *desk) refuse(reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses == reason {
		return false
	}
	d.drained, d.refuses = true, reason
	d.takeNothing()
	return true
}

// giveUp tells that attempts are not taken. Of one that is known it tells where it stands.
func (d *desk) giveUp(b task.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var events []task.Event
	for _, a := range b.Attempts {
		i := item{job: &job{sweep: b.Sweep}, attempt: a}
		if d.known.has(i.key()) {
			events = append(events, d.again(i))
		} else {
			events = append(events, i.event(task.ReturnedEvent, d.worker))
		}
	}
	if len(events) > 0 {
		d.out.put(events...)
	}
}
