package core

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// An attempt lapses when the lease of its worker ends: its task is pending again, and the attempt
// remains the task's newest until another is placed. If the worker reconnects before that, the
// attempt continues as if the lease had not ended, and nothing is charged for it.

// lapse makes a task pending whose worker's lease ended. It reports whether the attempt can lapse.
// It cannot if it waits in the worker's queue, which is emptied, if its task is being cancelled, or
// if retry allows no other attempt.
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
		t.Attempts++ // the attempt is listed, because it may have started
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

// lapsedAttempt returns the task of a lapsed attempt, nil if the attempt has not lapsed.
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

// TakeUp resumes the lapsed attempts of a worker that has reconnected.
func (l *Ledger) TakeUp(worker string) {
	for _, t := range l.lapsedOf(worker) {
		l.takeUp(t)
	}
}

// takeUp resumes a lapsed attempt.
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

// leaveLapsed gives up the lapsed attempt of a pending task, if there is one, because another is
// placed or the task is cancelled. The worker may still run the attempt and is asked to stop it.
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
