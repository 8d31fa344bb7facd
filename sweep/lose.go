package sweep

import (
	"time"

	"mlframework/sweep/task"
)

// Lose declares a worker gone ("": all of them): what it ran is lost, what it held goes to another, and should it still
// be there it is told to stop. Certain tells that no process of it is alive and none of its events is on the way, so
// that the numbers of attempts that never began are free again. How long an attempt that is lost ran nobody knows: its
// outcome has no duration.
func (l *Ledger) Lose(worker, reason string, certain bool, now time.Time) {
	for _, i := range l.held(worker) {
		l.lose(l.open[i], reason, certain, now)
	}
	l.settle(now)
}

// Rejoin declares that a worker has begun anew: what it had claimed or ran is gone, what is on its way to it still comes.
func (l *Ledger) Rejoin(worker, reason string, now time.Time) {
	for _, i := range l.held(worker) {
		if t := l.open[i]; t.State != task.Queued {
			l.lose(t, reason, false, now)
		}
	}
	l.settle(now)
}

// LoseAttempt declares one attempt gone that its worker does not know any more. Where it is not the newest of its task,
// or not with a worker, nothing happens.
func (l *Ledger) LoseAttempt(index int64, number int, reason string, now time.Time) {
	if t := l.open[index]; t != nil && t.State.Active() && t.Try.Number == number {
		l.lose(t, reason, false, now)
		l.settle(now)
	}
}

func (l *Ledger) lose(t *Task, reason string, certain bool, now time.Time) {
	if !certain {
		l.stop(t, reason)
	}
	if t.State == task.Running {
		l.end(t, &task.Outcome{Class: task.Loss, Reason: reason}, now)
	} else {
		l.giveBack(t, certain)
	}
}

// Held lists, in order, the tasks that a worker has or is about to have.
func (l *Ledger) Held(worker string) (all []Task) {
	for _, i := range l.held(worker) {
		all = append(all, *l.open[i])
	}
	return all
}

// Heard takes note that a worker says it runs an attempt. One that does not count is told to stop, and one that was
// asked to end is asked again: what it was told before may not have reached it.
func (l *Ledger) Heard(worker string, index int64, number int) {
	t := l.open[index]
	if t == nil || !t.State.Active() || t.Try.Number != number || t.Try.Worker != worker {
		l.tell(worker, task.Control{Kind: task.StopControl, Index: index, Attempt: number, Reason: "superseded"})
		return
	}
	if t.State == task.Running {
		l.hold(t)
	}
}
