package core

import (
	"maps"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Pause hands out nothing more. With stop the attempts that run are stopped too; they go back to
// pending, uncharged. A sweep that is not running stays as it is.
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
		for _, t := range l.assignedTo("") {
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

// recall asks every worker that has tasks of the sweep to return those that have not started.
func (l *Ledger) recall(reason string) {
	for _, w := range slices.Sorted(maps.Keys(l.assigned)) {
		l.sendControl(w, task.Control{Kind: task.RecallControl, Reason: reason})
	}
}

func (l *Ledger) stop(t *Task, reason string) {
	l.sendControl(t.Attempt.Worker, task.Control{Kind: task.StopControl, Index: t.Index,
		Attempt: t.Attempt.Number, Reason: reason})
}

// Resume hands out tasks again after a pause. A sweep that was cancelled needs Reopen. It reports
// whether there is anything to do.
func (l *Ledger) Resume(now time.Time) bool {
	if l.head.State == Paused {
		l.reopen()
	}
	l.endIfDone(now)
	return l.head.State == Open
}

func (l *Ledger) reopen() {
	l.head.State, l.head.Reason, l.head.Ended, l.head.Stopping = Open, "", time.Time{}, false
	l.head.IgnoredFailures = l.head.Counts().Failures()
	l.first = firstFailures{}
	l.changed, l.morePending = true, true
}

// Cancel ends a sweep: nothing more is handed out, what runs is stopped, everything that has not
// ended is cancelled.
func (l *Ledger) Cancel(reason string, now time.Time) {
	if l.head.State == Cancelled || l.head.State == Finished {
		return
	}
	l.head.State, l.head.Reason, l.head.UnissuedCancelled = Cancelled, reason, true
	l.changed = true
	for _, t := range l.pending {
		l.cancel(t)
	}
	l.pending, l.exclusivePending = nil, 0
	for _, t := range l.assignedTo("") {
		l.cancelAssigned(t, reason)
	}
	l.endIfDone(now)
}

// cancel ends a pending task.
func (l *Ledger) cancel(t *Task) {
	l.leaveLapsed(t)
	l.setState(t, task.Cancelled)
	l.touch(t)
}

// cancelAssigned asks the worker that has a task to stop it; the task is cancelled when the worker
// reports its end.
func (l *Ledger) cancelAssigned(t *Task, reason string) {
	t.Cancelling = true
	l.touch(t)
	l.stop(t, reason)
}

// cancellable reports whether a task belongs to the sweep and has not ended.
func (l *Ledger) cancellable(index int64) bool {
	if l.open[index] != nil {
		return true
	}
	n, ok := l.ordinal(index)
	_, cancelled := l.cancelledEarly[index]
	return ok && n >= l.head.Issued && !cancelled && !l.head.UnissuedCancelled
}

// CancelTask cancels one task of the sweep that has not ended: the command CancelTask refuses
// others.
func (l *Ledger) CancelTask(index int64, reason string, now time.Time) {
	switch t := l.open[index]; {
	case t == nil:
		l.cancelledEarly[index] = struct{}{}
		l.cancel(l.addRow(index))
	case t.State == task.Pending:
		l.dequeue(t)
		l.cancel(t)
	default:
		l.cancelAssigned(t, reason)
	}
	l.endIfDone(now)
}

// Reopen makes tasks that ended other than well pending again, with nothing charged, and the sweep
// running. Tasks that are being cancelled are so no longer: they are pending again when their
// attempts have stopped. Others that have not ended, or succeeded, are left as they are. With all,
// the tasks that are being cancelled need not be among those given, and those come back that were
// cancelled with the sweep before they were ever handed out. With fresh, tasks start in new
// folders.
func (l *Ledger) Reopen(tasks []Task, all, fresh bool) {
	reopened := false
	if all && l.hasCancelledUnissued() {
		l.head.UnissuedCancelled = false
		reopened = true
	}
	if all {
		for _, t := range l.assignedTo("") {
			reopened = l.undoCancel(t, fresh) || reopened
		}
	}
	for _, t := range tasks {
		if here := l.open[t.Index]; here != nil {
			reopened = l.undoCancel(here, fresh) || reopened
			continue
		}
		if !t.Retriable() {
			continue
		}
		if t.Attempt.Outcome != nil {
			l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{t.Index, t.Attempt})
		}
		t.Charged, t.Cancelling, t.NotBefore = task.Retry{}, false, time.Time{}
		if fresh {
			t.Fresh = t.Attempt.Number + 1
		}
		l.open[t.Index] = &t
		l.setState(&t, task.Pending)
		l.enqueue(&t)
		l.touch(&t)
		reopened = true
	}
	if reopened {
		l.reopen()
	}
}

// ReopenUnissued makes tasks pending again that were cancelled with the sweep before they had a
// row, and the sweep running. The others of these stay cancelled, and get a row.
func (l *Ledger) ReopenUnissued(indexes []int64) {
	if len(indexes) == 0 || !l.hasCancelledUnissued() {
		return
	}
	l.head.UnissuedCancelled = false
	for n := l.head.Issued; n < l.head.Total; n++ {
		index := l.source.At(n)
		_, cancelled := l.cancelledEarly[index]
		if _, again := slices.BinarySearch(indexes, index); !again && !cancelled {
			l.cancelledEarly[index] = struct{}{}
			l.cancel(l.addRow(index))
		}
	}
	l.reopen()
}

// undoCancel continues a task that is being cancelled. It reports whether it was.
func (l *Ledger) undoCancel(t *Task, fresh bool) bool {
	if !t.Cancelling {
		return false
	}
	t.Charged, t.Cancelling = task.Retry{}, false
	if fresh {
		t.Fresh = t.Attempt.Number + 1
	}
	l.touch(t)
	return true
}

// Extend adds tasks of an extended record behind those that the sweep has, and lets it run again if
// it had ended or was paused. It must not be called while tasks without a row are cancelled: the
// new ones could not be distinguished from them.
func (l *Ledger) Extend(r Record, tasks int64) {
	l.setRecord(r)
	l.head.UnissuedCancelled = false
	l.head.Total += tasks
	l.reopen()
}
