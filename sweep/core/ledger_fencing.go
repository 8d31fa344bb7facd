package core

import "mlframework/sweep/task"

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
	return l.current(e.Worker, e.Index, e.Attempt) != nil ||
		l.lapsedAttempt(e.Worker, e.Index, e.Attempt) != nil
}

// counting returns the task of an event's attempt, nil if the attempt does not count. A lapsed
// attempt is resumed.
func (l *Ledger) counting(e *task.Event) *Task {
	if t := l.lapsedAttempt(e.Worker, e.Index, e.Attempt); t != nil {
		l.takeUp(t)
	}
	return l.current(e.Worker, e.Index, e.Attempt)
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
