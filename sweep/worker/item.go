package worker

import (
	"time"

	"mlframework/sweep/task"
)

// item is an attempt that was claimed.
type item struct {
	job     *job
	attempt task.Attempt
}

// key names one attempt.
type key struct {
	sweep  string
	index  int64
	number int
}

func (i item) key() key { return key{i.job.sweep, i.attempt.Index, i.attempt.Number} }

// event is what the worker reports of an item.
func (w *Worker) event(kind task.Kind, i item) task.Event {
	return task.Event{Version: task.Version, Kind: kind, Worker: w.o.Name, Time: time.Now(),
		Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number}
}

// report puts an event of the same kind for each item in line.
func (w *Worker) report(kind task.Kind, items []item) {
	events := make([]task.Event, len(items))
	for n, i := range items {
		events[n] = w.event(kind, i)
	}
	w.outbox.put(events...)
}
