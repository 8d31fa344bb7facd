package core

import (
	"fmt"
	"time"

	"mlframework/sweep/task"
)

// Departure is what is known of the attempts of a worker that is gone, beside its events.
type Departure uint8

const (
	Vanished  Departure = iota // what it was handed may have begun, and its last events may be lost
	SignedOff                  // it told everything: what did not begin by its events had not begun
	Dead                       // nothing of it is alive, and no event is on its way: the numbers of attempts that did not begin are free again
)

// How the reason of an attempt ends that was lost before anything told that it had begun.
const (
	StartUnknown = "; whether it began is not known"
	NotStarted   = "; it had not begun"
)

// Lose declares a worker gone ("": all of them): what it ran is lost, what it had goes to another, and should it still
// be there it is told to stop. How long an attempt that is lost ran nobody knows: its outcome has no duration.
func (l *Ledger) Lose(worker, reason string, fate Departure, now time.Time) {
	for _, t := range l.assignedTo(worker) {
		l.lose(t, reason, fate, now)
	}
	l.endIfDone(now)
}

// RunKilled declares that master and workers of the sweep died together, as those of a local run do: what ran is lost, and the
// sweep is paused until somebody lets it go on.
func (l *Ledger) RunKilled(now time.Time) {
	reason, running := "its run was killed", l.head.Rows[task.Running]
	l.Lose("", reason, Dead, now)
	if running == 1 {
		reason += " while 1 task was running"
	} else if running > 1 {
		reason += fmt.Sprintf(" while %d tasks were running", running)
	}
	if l.head.State == Open || l.head.State == Paused && running > 0 {
		l.head.State, l.head.Reason, l.changed = Paused, reason, true
	}
}

// Rejoin declares that a worker has begun anew: what it had claimed or ran is gone, what is on its way to it still comes.
func (l *Ledger) Rejoin(worker, reason string, fate Departure, now time.Time) {
	for _, t := range l.assignedTo(worker) {
		if t.State != task.Queued {
			l.lose(t, reason, fate, now)
		}
	}
	l.endIfDone(now)
}

// LoseAttempt declares one attempt gone that its worker does not know any more. Where it is not the newest of its task,
// or not with a worker, nothing happens.
func (l *Ledger) LoseAttempt(index int64, number int, reason string, fate Departure, now time.Time) {
	if t := l.open[index]; t != nil && t.State.Active() && t.Attempt.Number == number {
		l.lose(t, reason, fate, now)
		l.endIfDone(now)
	}
}

func (l *Ledger) lose(t *Task, reason string, fate Departure, now time.Time) {
	if fate != Dead {
		l.stop(t, reason)
	}
	if t.State == task.Running {
		l.end(t, &task.Outcome{Class: task.Loss, Reason: reason}, now)
		return
	}
	if fate != Dead { // listed, as a message that is delivered late may begin it yet
		lost := t.Attempt
		lost.Outcome = &task.Outcome{Class: task.Loss, Reason: reason + map[Departure]string{Vanished: StartUnknown, SignedOff: NotStarted}[fate]}
		t.Attempts++
		if t.uncharged() > maxUncharged {
			l.end(t, lost.Outcome, now)
			return
		}
		l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{t.Index, lost})
	}
	l.returnTask(t, fate == Dead)
}

// ConfirmRunning takes note that a worker says it runs an attempt. One that does not count is told to stop,
// and one that was asked to end is asked again: what it was told before may not have reached it. It
// reports whether the worker is sent anything.
func (l *Ledger) ConfirmRunning(worker string, index int64, number int) (sent bool) {
	before := len(l.changes.Controls)
	if t := l.open[index]; !l.isAssigned(worker, index, number) {
		l.sendControl(worker, task.Control{Kind: task.StopControl, Index: index, Attempt: number, Reason: "superseded"})
	} else if t.State == task.Running {
		l.repeatRequest(t)
	}
	return len(l.changes.Controls) > before
}

// isAssigned reports whether a worker has an attempt that counts, or is about to.
func (l *Ledger) isAssigned(worker string, index int64, number int) bool {
	t := l.open[index]
	return t != nil && t.State.Active() && t.Attempt.Number == number && t.Attempt.Worker == worker
}
