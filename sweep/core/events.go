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
// that no longer counts is fenced: its program is told to stop, its result is kept as superseded.
func (l *Ledger) Event(e task.Event, now time.Time) {
	t := l.counts(e)
	if t == nil {
		l.fence(e)
		return
	}
	switch e.Kind {
	case task.ClaimedEvent:
		if t.State == task.Queued {
			l.move(t, task.Claimed)
			l.touch(t)
			l.hold(t)
		}
	case task.StartedEvent:
		l.start(t, e)
	case task.SamplesEvent:
		if len(e.Samples) > 0 {
			l.changes.Samples = append(l.changes.Samples, Samples{e.Index, e.Attempt, e.Samples})
		}
		if len(e.Newest) > 0 && t.State == task.Running {
			t.Try.Newest = metric.Final(e.Newest)
			l.touchRow(t) // and the head is as it was
		}
	case task.ReturnedEvent:
		if t.State != task.Running {
			l.giveBack(t, false)
			l.settle(now)
		}
	case task.EndedEvent:
		if e.Outcome != nil {
			l.startOf(t, e)
			l.end(t, e.Outcome, now)
		}
	}
}

// Excuse applies the end of an attempt that its host could not run, when the host is known to be unfit: the task is pending
// again, and nothing is charged for it.
func (l *Ledger) Excuse(e task.Event, now time.Time) {
	t := l.counts(e)
	switch {
	case t == nil:
		l.fence(e)
	case t.Cancelling:
		l.startOf(t, e)
		l.end(t, e.Outcome, now)
	default:
		l.startOf(t, e)
		t.Try.Outcome = e.Outcome
		l.again(t, now)
		l.touch(t)
		l.settle(now)
	}
}

// startOf takes the start of an attempt from its end, where nothing else told of it: a store that was cut may have lost
// that. An attempt that could not begin is listed all the same.
func (l *Ledger) startOf(t *Task, e task.Event) {
	switch {
	case t.State == task.Running:
	case e.Start != nil:
		l.start(t, e)
	default:
		t.Tries++
	}
}

// Counts reports whether an event is of an attempt that counts: the newest of a task, on the worker
// that it was placed on.
func (l *Ledger) Counts(e task.Event) bool { return l.counts(e) != nil }

// counts finds the task of an event; nil when the event is of an attempt that does not count.
func (l *Ledger) counts(e task.Event) *Task {
	if !l.holds(e.Worker, e.Index, e.Attempt) {
		return nil
	}
	return l.open[e.Index]
}

// Ahead reports whether an event is of an attempt that this ledger has not handed out: its store lost that.
func (l *Ledger) Ahead(e task.Event) bool {
	if t := l.open[e.Index]; t != nil {
		return e.Attempt > t.Try.Number
	}
	n, ok := l.ranges.Ordinal(e.Index)
	_, cancelled := l.ahead[e.Index]
	return !ok || n < 0 || n >= l.head.Issued && !cancelled
}

// fence answers an event of an attempt that does not count. The end of one that did count may be among them, when it
// comes again: the store, which knows all attempts, leaves that out.
func (l *Ledger) fence(e task.Event) {
	l.Reject(e)
	switch e.Kind {
	case task.ClaimedEvent, task.StartedEvent:
		l.late(e)
	case task.EndedEvent:
		if e.Outcome == nil {
			return
		}
		l.late(e)
		try := Try{Number: e.Attempt, Worker: e.Worker, Outcome: e.Outcome, Superseded: true}
		l.changes.Tries = append(l.changes.Tries, OldTry{e.Index, try})
	}
}

// Reject answers an event of an attempt that was not placed on its worker: what seems to run there
// is told to stop, and nothing is kept.
func (l *Ledger) Reject(e task.Event) {
	if e.Kind == task.ClaimedEvent || e.Kind == task.StartedEvent {
		l.tell(e.Worker, task.Control{Kind: task.StopControl, Index: e.Index, Attempt: e.Attempt,
			Reason: "superseded"})
	}
}

// late keeps where and when an attempt began that does not count any more.
func (l *Ledger) late(e task.Event) {
	if e.Start != nil {
		l.changes.Begun = append(l.changes.Begun, OldTry{e.Index, Try{Number: e.Attempt, Worker: e.Worker, Start: *e.Start, Started: e.Began()}})
	}
}

func (l *Ledger) start(t *Task, e task.Event) {
	if t.State == task.Running {
		return
	}
	l.move(t, task.Running)
	t.Tries++
	t.Try.Started = e.Began()
	if e.Start != nil {
		t.Try.Start = *e.Start
	}
	l.touch(t)
	l.hold(t)
}

// hold asks again for the end of an attempt that was on its way while its task was cancelled or its sweep was paused.
func (l *Ledger) hold(t *Task) {
	switch {
	case t.Cancelling:
		l.stop(t, cmp.Or(l.head.Reason, "cancelled"))
	case l.head.Stopping:
		l.stop(t, l.head.Reason)
	case t.State == task.Claimed && l.head.State != Open:
		l.tell(t.Try.Worker, task.Control{Kind: task.RecallControl, Reason: l.head.Reason})
	}
}

// giveBack makes a task whose attempt did not begin pending again. Its number is used up, as events that name it may
// come again; only where none can come any more it is free.
func (l *Ledger) giveBack(t *Task, free bool) {
	l.move(t, task.Pending)
	t.Try = Try{Number: t.Try.Number}
	if free {
		t.Try.Number--
	}
	if t.Cancelling {
		l.move(t, task.Cancelled)
	} else {
		l.wait(t)
	}
	l.touch(t)
}

// end applies the end of a task's newest attempt.
func (l *Ledger) end(t *Task, o *task.Outcome, now time.Time) {
	asked := t.Cancelling || l.head.Stopping
	if o.Class == task.Stopped && !asked && t.uncharged() > mostUncharged {
		o = t.unasked(o)
	}
	t.Try.Outcome = o
	l.head.Ran = max(l.head.Ran, o.Duration.Truncate(time.Microsecond)) // its start may have been told with its end
	switch class := o.Class; {
	case t.Cancelling:
		l.move(t, task.Cancelled)
	case class == task.Stopped:
		l.again(t, time.Time{})
	case class != task.Success && t.charge(class, l.rules):
		l.again(t, now.Add(t.backoff()))
	default:
		l.move(t, terminalState(class))
	}
	l.touch(t)
	l.guard()
	l.settle(now)
}

// again makes a task whose attempt ended pending for the next one; the attempt is kept beside it.
func (l *Ledger) again(t *Task, notBefore time.Time) {
	l.changes.Tries = append(l.changes.Tries, OldTry{t.Index, t.Try})
	t.NotBefore = notBefore
	l.move(t, task.Pending)
	l.wait(t)
}

// guard pauses a sweep in which too many tasks ended badly since it was last let go on.
func (l *Ledger) guard() {
	failures := l.head.Counts().Failures() - l.head.Forgiven
	if l.maxFails > 0 && failures >= l.maxFails && l.head.State == Open {
		what := "tasks"
		if failures == 1 {
			what = "task"
		}
		if l.head.Forgiven > 0 { // those that failed before are beside them in the counts
			what = "more " + what
		}
		l.Pause(fmt.Sprintf("%d %s failed, and max-failures is %d", failures, what, l.maxFails), false)
	}
}

// settle ends a sweep when its last task has ended.
func (l *Ledger) settle(now time.Time) {
	h := &l.head
	if len(l.open) > 0 || !h.Ended.IsZero() {
		return
	}
	switch {
	case h.State == Cancelled:
	case h.Cut || h.fresh() == 0:
		h.State, h.Reason = Finished, ""
	default:
		return
	}
	h.Ended, h.Stopping = now, false
	l.changed = true
}
