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
	t := l.current(e.Worker, e.Index, e.Attempt)
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
	t := l.current(e.Worker, e.Index, e.Attempt)
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
		l.Pause(fmt.Sprintf("%d %s failed, and max-failures is %d", failures, what, l.maxFails),
			false)
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

// Departure is what is known, beside the events, of the attempts of a worker that is gone.
type Departure uint8

// How a worker can go.

const (
	Vanished  Departure = iota // its attempts may have started, and its last events may be lost
	SignedOff                  // it sent all its events: other attempts have not started
	// Dead is that nothing of it is alive and no event is on its way. Numbers of attempts that
	// have not started can be used again.
	Dead
)

// How the reason of an attempt ends that was lost before an event said that it had started.
const (
	StartUnknown = "; whether it began is not known"
	NotStarted   = "; it had not begun"
)

// MarkLost declares a worker gone ("": all of them). What it ran is lost, its other attempts are
// placed again, and it is asked to stop them if it may still be there. The outcome of a lost
// attempt has no duration, as nobody knows it.
func (l *Ledger) MarkLost(worker, reason string, departure Departure, now time.Time) {
	for _, t := range l.assignedTo(worker) {
		l.markLost(t, reason, departure, now)
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

// Attempts are fenced by their number and their worker: only what is reported of the newest attempt
// of a task, by the worker that it was placed on, counts.

// current returns the task of an attempt that counts, and that its worker has or is about to; nil
// if the attempt does not count.
func (l *Ledger) current(worker string, index int64, number int) *Task {
	t := l.open[index]
	if t == nil || t.Attempt.Number != number || t.Attempt.Worker != worker || !t.State.Active() {
		return nil
	}
	return t
}

// IsCurrent reports whether an event is of an attempt that counts: the newest of its task, on the
// worker that it was placed on.
func (l *Ledger) IsCurrent(e *task.Event) bool {
	return l.current(e.Worker, e.Index, e.Attempt) != nil
}

// NeverPlaced reports whether an event is of an attempt that this ledger has not placed: its store
// lost that.
func (l *Ledger) NeverPlaced(e *task.Event) bool {
	if t := l.open[e.Index]; t != nil {
		return e.Attempt > t.Attempt.Number
	}
	n, ok := l.ordinal(e.Index)
	_, cancelled := l.cancelledEarly[e.Index]
	return !ok || n >= l.head.Issued && !cancelled
}

// fence answers an event of an attempt that does not count. The end of an attempt that did count
// may be among them if it is delivered again: the store, which knows all attempts, leaves that out.
func (l *Ledger) fence(e *task.Event) {
	l.Reject(e)
	switch e.Kind {
	case task.ClaimedEvent, task.StartedEvent:
		l.keepLateStart(e)
	case task.EndedEvent:
		if e.Outcome == nil {
			return
		}
		l.keepLateStart(e)
		superseded := Attempt{Number: e.Attempt, Worker: e.Worker, Outcome: e.Outcome,
			Superseded: true}
		l.changes.OldAttempts = append(l.changes.OldAttempts, OldAttempt{e.Index, superseded})
	}
}

// Reject answers an event of an attempt that was not placed on its worker: what seems to run there
// is stopped, and nothing is kept.
func (l *Ledger) Reject(e *task.Event) {
	if e.Kind == task.ClaimedEvent || e.Kind == task.StartedEvent {
		l.stopSuperseded(e.Worker, e.Index, e.Attempt)
	}
}

// ConfirmRunning applies that a worker says it runs an attempt. An attempt that does not count is
// stopped, and a request to stop one is repeated: the first message may have been lost. It reports
// whether the worker is sent anything.
func (l *Ledger) ConfirmRunning(worker string, index int64, number int) (sent bool) {
	before := len(l.changes.Controls)
	if t := l.current(worker, index, number); t == nil {
		l.stopSuperseded(worker, index, number)
	} else if t.State == task.Running {
		l.repeatRequest(t)
	}
	return len(l.changes.Controls) > before
}

// stopSuperseded asks a worker to stop an attempt that does not count.
func (l *Ledger) stopSuperseded(worker string, index int64, number int) {
	l.sendControl(worker, task.Control{Kind: task.StopControl, Index: index, Attempt: number,
		Reason: "superseded"})
}

// keepLateStart keeps where and when an attempt started that does not count any more.
func (l *Ledger) keepLateStart(e *task.Event) {
	if e.Start == nil {
		return
	}
	started := Attempt{Number: e.Attempt, Worker: e.Worker, Start: *e.Start, Started: e.Began()}
	l.changes.LateStarts = append(l.changes.LateStarts, OldAttempt{e.Index, started})
}
