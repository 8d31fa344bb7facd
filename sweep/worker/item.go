package worker

import (
	"time"

	"mlframework/sweep/task"
)

// item is an attempt that was claimed.
type item struct {
	job     *job
	attempt task.Attempt
	lot     *lot // secrets, from the moment that it may begin
}

// key names one attempt.
type key struct {
	sweep  string
	index  int64
	number int
}

func (i item) key() key { return key{i.job.sweep, i.attempt.Index, i.attempt.Number} }

// event is what a worker reports of an item.
func (i item) event(kind task.Kind, worker string) task.Event {
	return task.Event{Version: task.Version, Kind: kind, Worker: worker, Time: time.Now(),
		Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number}
}
