package core

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// An attempt lapses when the lease of its worker ends: its task is pending again, and the attempt
// stays the task's newest until another is placed. If its worker is back before that, the attempt
// is taken up again as if the lease had not ended, and nothing is charged for it.

// lapse makes the task of an attempt pending whose worker's lease ended. It reports false if the
// attempt cannot lapse: it was on its way, in a queue that is emptied, its task is being cancelled,
// or retry allows no other attempt.
func (l *Ledger) lapse(t *Task, reason string, now time.Time) bool {
	was, notBefore := t.State, time.Time{}
	switch {
	case t.Cancelling, was == task.Queued:
		return false
	case was == task.Running && t.charge(task.Loss, l.rules):
		notBefore = now.Add(t.backoff())
	case was == task.Running, t.uncharged() >= maxUncharged:
		return false
	default:
		t.Attempts++ // listed, as it may have started
		reason += StartUnknown
	}
	l.setState(t, task.Pending)
	t.Attempt.Outcome = &task.Outcome{Class: task.Loss, Reason: reason}
	t.Lapsed, t.NotBefore = was, notBefore
	l.lapsed[t.Index] = t
	l.enqueue(t)
	l.touch(t)
	return true
}

// lapsedAttempt returns the task of an attempt that has lapsed; nil if that is not known of it.
func (l *Ledger) lapsedAttempt(worker string, index int64, number int) *Task {
	t := l.lapsed[index]
	if t == nil || t.Attempt.Number != number || t.Attempt.Worker != worker {
		return nil
	}
	return t
}

// lapsedOf lists the tasks whose attempts on a worker have lapsed, by index.
func (l *Ledger) lapsedOf(worker string) (tasks []*Task) {
	for _, t := range l.lapsed {
		if t.Attempt.Worker == worker {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, byIndex)
	return tasks
}

// TakeUp takes up what has lapsed of a worker that is back.
func (l *Ledger) TakeUp(worker string) {
	for _, t := range l.lapsedOf(worker) {
		l.takeUp(t)
	}
}

// takeUp undoes that an attempt lapsed.
func (l *Ledger) takeUp(t *Task) {
	l.dequeue(t)
	if t.Lapsed == task.Running {
		t.Charged.Lost--
	} else {
		t.Attempts--
	}
	was := t.Lapsed
	l.forgetLapsed(t)
	t.NotBefore, t.Attempt.Outcome = time.Time{}, nil
	l.setState(t, was)
	if t.exclusive() {
		l.exclusive[t.Index] = t.Attempt.Worker
	}
	l.touch(t)
	l.repeatRequest(t)
}

// leaveLapsed leaves the attempt of a pending task behind if it has lapsed: another is placed, or
// the task is cancelled. Its worker may still run it, and is asked to stop it.
func (l *Ledger) leaveLapsed(t *Task) {
	if t.Lapsed == task.Pending {
		return
	}
	l.stop(t, t.Attempt.Outcome.Reason)
	l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{t.Index, t.Attempt})
	l.forgetLapsed(t)
}

func (l *Ledger) forgetLapsed(t *Task) {
	t.Lapsed = task.Pending
	delete(l.lapsed, t.Index)
}
