package core

import (
	"fmt"
	"time"

	"mlframework/sweep/task"
)

// Departure is what is known, beside the events, of the attempts of a worker that is gone.
type Departure uint8

// How a worker can go.

const (
	Vanished  Departure = iota // its attempts may have started, and its last events may be lost
	SignedOff                  // it sent all its events: other attempts have not started
	// LeaseEnded is that it sends no heartbeat: its attempts may continue, and it may reconnect.
	LeaseEnded
	// Dead is that nothing of it is alive and no event is on its way. Numbers of attempts that
	// have not started can be used again.
	Dead
)

// How the reason of an attempt ends that was lost before an event said that it had started.
const (
	StartUnknown = "; whether it began is not known"
	NotStarted   = "; it had not begun"
)

// MarkLost declares a worker lost ("": all of them). Its running attempts are lost, its other tasks
// are rescheduled, and it is asked to stop them if it may still run. Attempts of a worker whose
// lease ended lapse. The outcome of a lost attempt has no duration, because it is unknown.
func (l *Ledger) MarkLost(worker, reason string, departure Departure, now time.Time) {
	for _, t := range l.assignedTo(worker) {
		if departure != LeaseEnded || !l.lapse(t, reason, now) {
			l.markLost(t, reason, departure, now)
		}
	}
	l.endIfDone(now)
}

// RunKilled declares that master and workers died together, as those of a local run do: what ran is
// lost, and the sweep is paused until a person resumes it.
func (l *Ledger) RunKilled(now time.Time) {
	reason, running := "its run was killed", l.head.Rows[task.Running]
	l.MarkLost("", reason, Dead, now)
	if running == 1 {
		reason += " while 1 task was running"
	} else if running > 1 {
		reason += fmt.Sprintf(" while %d tasks were running", running)
	}
	if l.head.State == Open || l.head.State == Paused && running > 0 {
		l.head.State, l.head.Reason, l.changed = Paused, reason, true
	}
}

// Rejoin declares that a worker has restarted: what it had claimed or ran is gone, what is in its
// queue still arrives.
func (l *Ledger) Rejoin(worker, reason string, departure Departure, now time.Time) {
	for _, t := range l.assignedTo(worker) {
		if t.State != task.Queued {
			l.markLost(t, reason, departure, now)
		}
	}
	l.endIfDone(now)
}

// MarkAttemptLost declares lost an attempt that its worker does not know any more. It does nothing
// to an attempt that is not the newest of its task, or not assigned to a worker.
func (l *Ledger) MarkAttemptLost(index int64, number int, reason string, departure Departure,
	now time.Time) {
	if t := l.open[index]; t != nil && t.State.Active() && t.Attempt.Number == number {
		l.markLost(t, reason, departure, now)
		l.endIfDone(now)
	}
}

func (l *Ledger) markLost(t *Task, reason string, departure Departure, now time.Time) {
	if departure != Dead {
		l.stop(t, reason)
	}
	if t.State == task.Running {
		l.end(t, &task.Outcome{Class: task.Loss, Reason: reason}, now)
		return
	}
	if departure != Dead { // listed, as a message that is delivered late may still start it
		if departure == SignedOff {
			reason += NotStarted
		} else {
			reason += StartUnknown
		}
		lost := t.Attempt
		lost.Outcome = &task.Outcome{Class: task.Loss, Reason: reason}
		t.Attempts++
		if t.uncharged() > maxUncharged {
			l.end(t, lost.Outcome, now)
			return
		}
		l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{t.Index, lost})
	}
	l.returnTask(t, departure == Dead)
}
