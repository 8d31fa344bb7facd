package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// heldBy lists, in order, the tasks that a worker has or is about to have; "" means any worker. What
// becomes of them does not change the list.
func (l *Ledger) heldBy(worker string) (tasks []*Task) {
	if worker != "" {
		return slices.Clone(l.held[worker])
	}
	for _, of := range l.held {
		tasks = append(tasks, of...)
	}
	slices.SortFunc(tasks, byIndex)
	return tasks
}

func byIndex(a, b *Task) int { return cmp.Compare(a.Index, b.Index) }

// Pause hands out nothing more. With stop the attempts that run are stopped too; they go back to pending, uncharged.
// A sweep that is not running stays as it is.
func (l *Ledger) Pause(reason string, stop bool) {
	if l.head.State != Open && !(l.head.State == Paused && stop) {
		return
	}
	l.changed = true
	if l.head.State == Open {
		l.head.State, l.head.Reason = Paused, reason
		l.recall(reason)
	}
	if stop {
		l.head.Stopping = true
		for _, t := range l.heldBy("") {
			l.stop(t, reason)
		}
	}
}

// AddReason adds to why a sweep is paused. It does nothing to one that is not.
func (l *Ledger) AddReason(text string) {
	if l.head.State != Paused {
		return
	}
	if l.head.Reason != "" {
		text = l.head.Reason + "; " + text
	}
	l.head.Reason, l.changed = text, true
}

// recall asks every worker that holds tasks of the sweep to give back those that have not begun.
func (l *Ledger) recall(reason string) {
	for _, w := range slices.Sorted(maps.Keys(l.held)) {
		l.tell(w, task.Control{Kind: task.RecallControl, Reason: reason})
	}
}

func (l *Ledger) stop(t *Task, reason string) {
	l.tell(t.Try.Worker, task.Control{Kind: task.StopControl, Index: t.Index, Attempt: t.Try.Number, Reason: reason})
}

// Resume hands out tasks again after a pause. A sweep that was cancelled needs Reopen. It tells whether there is
// anything to do.
func (l *Ledger) Resume(now time.Time) bool {
	if l.head.State == Paused {
		l.reopen()
	}
	l.settle(now)
	return l.head.State == Open
}

func (l *Ledger) reopen() {
	l.head.State, l.head.Reason, l.head.Ended, l.head.Stopping = Open, "", time.Time{}, false
	l.head.Forgiven = l.head.Counts().Failures()
	l.changed, l.gained = true, true
}

// Cancel ends a sweep: nothing more is handed out, what runs is stopped, everything that has not ended is cancelled.
func (l *Ledger) Cancel(reason string, now time.Time) {
	if l.head.State == Cancelled || l.head.State == Finished {
		return
	}
	l.head.State, l.head.Reason, l.head.Cut = Cancelled, reason, true
	l.changed = true
	for _, t := range l.waiting {
		l.cancel(t)
	}
	l.waiting, l.exclusives = nil, 0
	for _, t := range l.heldBy("") {
		l.cancelHeld(t, reason)
	}
	l.settle(now)
}

// cancel ends a pending task.
func (l *Ledger) cancel(t *Task) {
	l.move(t, task.Cancelled)
	l.touch(t)
}

// cancelHeld asks the worker that has a task to stop it; the task is cancelled when the worker tells its end.
func (l *Ledger) cancelHeld(t *Task, reason string) {
	t.Cancelling = true
	l.touch(t)
	l.stop(t, reason)
}

// cancellable reports whether a task belongs to the sweep and has not ended.
func (l *Ledger) cancellable(index int64) bool {
	if l.open[index] != nil {
		return true
	}
	n, ok := l.ranges.Ordinal(index)
	_, ahead := l.ahead[index]
	return ok && n >= l.head.Issued && n < l.head.Total && !ahead && !l.head.Cut
}

// CancelTask cancels one task. It is an error when the task does not belong to the sweep or has ended; the caller
// tells from the store which.
func (l *Ledger) CancelTask(index int64, reason string, now time.Time) error {
	n, ok := l.ranges.Ordinal(index)
	if !ok || n < 0 || n >= l.head.Total {
		return fmt.Errorf("%s has no task %d", l.head.ID, index)
	}
	t := l.open[index]
	_, ahead := l.ahead[index]
	switch {
	case t != nil && t.State == task.Pending:
		l.unwait(t)
		l.cancel(t)
	case t != nil:
		l.cancelHeld(t, reason)
	case n >= l.head.Issued && !ahead && !l.head.Cut:
		l.ahead[index] = struct{}{}
		l.cancel(l.add(index))
	default:
		return fmt.Errorf("%s has ended already", task.ID{Sweep: l.head.ID, Index: index})
	}
	l.settle(now)
	return nil
}

// Reopen makes tasks that ended other than well pending again, with nothing charged, and the sweep running. Tasks that
// succeeded or have not ended are left as they are. With fresh also the tasks come back that were cancelled with the
// sweep before they were ever handed out. It returns how many it took.
func (l *Ledger) Reopen(ended []Task, fresh bool) (taken int64) {
	if n := l.head.fresh(); fresh && l.head.Cut && n > 0 {
		l.head.Cut = false
		taken += n
	}
	for _, t := range ended {
		if _, here := l.open[t.Index]; here || !t.State.Terminal() || t.State == task.Succeeded {
			continue
		}
		if t.Try.Outcome != nil {
			l.changes.Tries = append(l.changes.Tries, OldTry{t.Index, t.Try})
		}
		t.Charged, t.Cancelling, t.NotBefore = Retry{}, false, time.Time{}
		l.open[t.Index] = &t
		l.move(&t, task.Pending)
		l.wait(&t)
		l.touch(&t)
		taken++
	}
	if taken > 0 {
		l.reopen()
	}
	return taken
}
