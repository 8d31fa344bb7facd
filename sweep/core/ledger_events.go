package core

import (
	"cmp"
	"fmt"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Event applies what a worker reports of an attempt that was placed on it; now is the master's
// time, as clocks of hosts differ. Events that repeat change nothing; what belongs to an attempt
// that no longer counts is fenced: its program is stopped, its result is kept as superseded.
func (l *Ledger) Event(e *task.Event, now time.Time) {
	t := l.counting(e)
	if t == nil {
		l.fence(e)
		return
	}
	switch e.Kind {
	case task.ClaimedEvent:
		if t.State == task.Queued {
			l.setState(t, task.Claimed)
			l.touch(t)
		}
		if t.State == task.Claimed { // also again: the worker has forgotten what it was asked
			l.repeatRequest(t)
		}
	case task.StartedEvent:
		l.start(t, e)
	case task.SamplesEvent:
		if len(e.Samples) > 0 {
			l.changes.Samples = append(l.changes.Samples, Samples{e.Index, e.Attempt, e.Samples})
		}
		if len(e.Newest) > 0 && t.State == task.Running {
			t.Attempt.Newest = metric.Final(e.Newest)
			l.touchRow(t) // and the head is as it was
		}
	case task.ReturnedEvent:
		if t.State != task.Running {
			l.returnTask(t, false)
			l.endIfDone(now)
		}
	case task.EndedEvent:
		if e.Outcome != nil {
			l.startFromEnd(t, e)
			l.end(t, e.Outcome, now)
		}
	}
}

// EndOnUnfitHost applies the end of an attempt that its host could not run, when the host is known
// to be unfit: the task is pending again, and nothing is charged for it.
func (l *Ledger) EndOnUnfitHost(e *task.Event, now time.Time) {
	t := l.counting(e)
	switch {
	case t == nil:
		l.fence(e)
	case t.Cancelling:
		l.startFromEnd(t, e)
		l.end(t, e.Outcome, now)
	default:
		l.startFromEnd(t, e)
		t.Attempt.Outcome = e.Outcome
		l.requeue(t, now)
		l.touch(t)
		l.endIfDone(now)
	}
}

// startFromEnd takes the start of an attempt from its end if its event is missing: a store that was
// cut may have lost it. An attempt that could not start is listed, too.
func (l *Ledger) startFromEnd(t *Task, e *task.Event) {
	switch {
	case t.State == task.Running:
	case e.Start != nil:
		l.start(t, e)
	default:
		t.Attempts++
	}
}

func (l *Ledger) start(t *Task, e *task.Event) {
	if t.State == task.Running {
		return
	}
	l.setState(t, task.Running)
	t.Attempts++
	t.Attempt.Started = e.Began()
	if e.Start != nil {
		t.Attempt.Start = *e.Start
	}
	l.touch(t)
	l.repeatRequest(t)
}

// repeatRequest asks again for the end of an attempt that was on its way while its task was
// cancelled or its sweep was paused.
func (l *Ledger) repeatRequest(t *Task) {
	switch {
	case t.Cancelling:
		l.stop(t, cmp.Or(l.head.Reason, "cancelled"))
	case l.head.Stopping:
		l.stop(t, l.head.Reason)
	case t.State == task.Claimed && l.head.State != Open:
		l.sendControl(t.Attempt.Worker,
			task.Control{Kind: task.RecallControl, Reason: l.head.Reason})
	}
}

// returnTask makes a task pending again whose attempt did not start. The number of the attempt
// stays used, as events of it may be delivered again, unless it is free.
func (l *Ledger) returnTask(t *Task, free bool) {
	l.setState(t, task.Pending)
	t.Attempt = Attempt{Number: t.Attempt.Number}
	if free {
		t.Attempt.Number--
	}
	if t.Cancelling {
		l.setState(t, task.Cancelled)
	} else {
		l.enqueue(t)
	}
	l.touch(t)
}

// end applies the end of a task's newest attempt.
func (l *Ledger) end(t *Task, o *task.Outcome, now time.Time) {
	asked := t.Cancelling || l.head.Stopping
	if o.Class == task.Stopped && !asked && t.uncharged() > maxUncharged {
		o = t.asLost(o)
	}
	t.Attempt.Outcome = o
	if o.Left > 0 {
		l.head.Bytes += o.Left - t.Bytes
		t.Bytes = o.Left
	}
	// Its start may have been reported with its end.
	l.head.Ran = max(l.head.Ran, o.Duration.Truncate(time.Microsecond))
	switch class := o.Class; {
	case t.Cancelling:
		l.setState(t, task.Cancelled)
	case class == task.Stopped:
		l.requeue(t, time.Time{})
	case class != task.Success && t.charge(class, l.rules):
		l.requeue(t, now.Add(t.backoff()))
	default:
		l.setState(t, terminalState(class))
		l.enforceKeepGoing(o)
	}
	l.touch(t)
	l.enforceMaxFailures()
	l.endIfDone(now)
}

// requeue makes a task whose attempt ended pending for the next one; the attempt is kept beside it.
func (l *Ledger) requeue(t *Task, notBefore time.Time) {
	l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{t.Index, t.Attempt})
	t.NotBefore = notBefore
	l.setState(t, task.Pending)
	l.enqueue(t)
}

// maxFailuresReason is part of why a sweep is paused in which too many tasks failed.
const maxFailuresReason = "max-failures is"

// enforceMaxFailures pauses a sweep in which too many tasks ended badly since it was last let go
// on.
func (l *Ledger) enforceMaxFailures() {
	failures := l.head.Counts().Failures() - l.head.IgnoredFailures
	if l.maxFails > 0 && failures >= l.maxFails && l.head.State == Open {
		what := "tasks"
		if failures == 1 {
			what = "task"
		}
		if l.head.IgnoredFailures > 0 { // those that failed before are beside them in the counts
			what = "more " + what
		}
		l.Pause(fmt.Sprintf("%d %s failed, and "+maxFailuresReason+" %d", failures, what,
			l.maxFails), false)
	}
}

// endIfDone ends a sweep when its last task has ended.
func (l *Ledger) endIfDone(now time.Time) {
	h := &l.head
	if len(l.open) > 0 || !h.Ended.IsZero() {
		return
	}
	switch {
	case h.State == Cancelled:
	case h.UnissuedCancelled || h.unissued() == 0:
		h.State, h.Reason = Finished, ""
	default:
		return
	}
	h.Ended, h.Stopping = now, false
	l.changed = true
}
