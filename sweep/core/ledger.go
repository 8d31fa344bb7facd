package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Ledger owns the transitions of one sweep's tasks. It holds only tasks that have a row and have
// not ended, so that a sweep of a million tasks costs little memory. Every method but TakeChanges
// is a pure step: the same calls in the same order leave the same ledger. It is for one goroutine.
type Ledger struct {
	head     Head
	rules    task.Retry
	maxFails int64
	source   Source
	needs    Resources // of each task
	revision string
	pins     []string // the n-th task is for the n-th of these workers; empty: for any worker

	open           map[int64]*Task    // rows that have not ended
	pending        []*Task            // the pending ones of them, in the order of their turn
	assigned       map[string][]*Task // by worker, those that it has or is about to have, by index
	exclusive      map[int64]string   // the workers of those of them that are exclusive
	cancelledEarly map[int64]struct{} // rows beyond the cursor: cancelled before their turn

	sampled map[int64]sampled // of open tasks that sent any

	changes Changes
	touched []*Task   // rows that changed, in order, some more than once
	changed bool      // the head too
	clock   time.Time // until when head.Ran is counted; zero before the first Clock

	exclusivePending int // exclusive tasks among pending

	// What the core reads and clears.
	reassigned  []string // workers whose part of assigned changed
	morePending bool     // there are more tasks to place than before
	offerTo     []string // workers for which there are
}

// NewLedger makes the ledger of a sweep as the store has it: its head, the rows that have not
// ended, and the indexes of all rows that lie beyond the cursor. A new sweep has neither. Requests
// to stop or return attempts are repeated with the first TakeChanges, as it is not known whether
// the workers got them.
func NewLedger(r Record, h Head, open []Task, cancelledEarly []int64) *Ledger {
	l := &Ledger{
		head: h, pins: r.Workers, needs: recipeNeeds(&r.Recipe),
		open:           make(map[int64]*Task, len(open)),
		cancelledEarly: make(map[int64]struct{}, len(cancelledEarly)),
		assigned:       map[string][]*Task{}, sampled: map[int64]sampled{},
		exclusive: map[int64]string{},
	}
	l.head.Waits = "" // it is found out again
	l.setRecord(r)
	for _, t := range open {
		l.open[t.Index] = &t
		switch {
		case t.State == task.Pending:
			l.pending = append(l.pending, &t)
			if t.exclusive() {
				l.exclusivePending++
			}
		case t.State.Active():
			l.assign(&t)
			if t.exclusive() {
				l.exclusive[t.Index] = t.Attempt.Worker
			}
		}
	}
	slices.SortFunc(l.pending, byTime)
	for _, i := range cancelledEarly {
		l.cancelledEarly[i] = struct{}{}
	}
	for _, t := range l.assignedTo("") {
		l.repeatRequest(t)
	}
	if len(l.pins) > 0 {
		l.issueAll()
	}
	return l
}

// Head returns the part of the sweep that changes.
func (l *Ledger) Head() Head { return l.head }

// Clock counts the time since it was last called to the sweep's running time, if workers have any
// of its tasks and one of them has started: before that they run those of other sweeps. It must be
// called before each step.
func (l *Ledger) Clock(now time.Time) {
	passed := now.Sub(l.clock)
	if !l.clock.IsZero() && passed > 0 && len(l.assigned) > 0 && l.hasStarted() {
		l.head.Ran += passed.Truncate(time.Microsecond) // the store keeps no more
	}
	l.clock = now
}

// hasStarted reports whether a task runs or has ended.
func (l *Ledger) hasStarted() bool {
	for state, n := range l.head.Rows {
		s := task.State(state)
		if n > 0 && (s == task.Running || s.Terminal() && s != task.Cancelled) {
			return true
		}
	}
	return false
}

// Assigned returns how many of the sweep's tasks a worker has or is about to have.
func (l *Ledger) Assigned(worker string) int { return len(l.assigned[worker]) }

// Revise applies a new revision or new settings of the sweep's record to attempts from now on.
func (l *Ledger) Revise(r Record) {
	l.setRecord(r)
	l.morePending = true
}

// setRecord takes over what a record says of attempts from now on.
func (l *Ledger) setRecord(r Record) {
	l.source, l.revision = r.Source(), r.Recipe.Revision
	l.rules, l.maxFails = r.Retry, r.MaxFailures
}

// hasCancelledUnissued reports whether tasks were cancelled with the sweep before they had a row.
func (l *Ledger) hasCancelledUnissued() bool {
	return l.head.UnissuedCancelled && l.head.unissued() > 0
}

// hasCancelled reports whether tasks are being cancelled, or were before they had a row.
func (l *Ledger) hasCancelled() bool {
	return l.hasCancelledUnissued() ||
		slices.ContainsFunc(l.assignedTo(""), func(t *Task) bool { return t.Cancelling })
}

// ordinal returns the ordinal of the sweep's task with an index; false if there is none.
func (l *Ledger) ordinal(index int64) (n int64, ok bool) {
	n, ok = l.source.Ordinal(index)
	return n, ok && n >= 0 && n < l.head.Total
}

// addRow adds the row of a task.
func (l *Ledger) addRow(index int64) *Task {
	t := &Task{Index: index}
	l.open[index] = t
	l.head.Rows[task.Pending]++
	return t
}

// setState changes a row's state and the counts. A task that has ended leaves the ledger.
func (l *Ledger) setState(t *Task, to task.State) {
	if before, after := t.State.Active(), to.Active(); before != after {
		if after {
			l.assign(t)
		} else {
			l.unassign(t)
		}
	}
	l.head.Rows[t.State]--
	l.head.Rows[to]++
	t.State = to
	if to.Terminal() {
		delete(l.open, t.Index)
		delete(l.sampled, t.Index)
	}
}

// assign notes that a worker has a task, or is about to.
func (l *Ledger) assign(t *Task) {
	of := l.assigned[t.Attempt.Worker]
	at, _ := slices.BinarySearchFunc(of, t, byIndex)
	l.assigned[t.Attempt.Worker] = slices.Insert(of, at, t)
	l.reassigned = append(l.reassigned, t.Attempt.Worker)
}

// unassign notes that a worker has a task no longer.
func (l *Ledger) unassign(t *Task) {
	of := l.assigned[t.Attempt.Worker]
	if len(of) > 1 {
		at, _ := slices.BinarySearchFunc(of, t, byIndex)
		l.assigned[t.Attempt.Worker] = slices.Delete(of, at, at+1)
	} else {
		delete(l.assigned, t.Attempt.Worker)
	}
	delete(l.exclusive, t.Index)
	l.reassigned = append(l.reassigned, t.Attempt.Worker)
	l.morePending = l.morePending || l.maxFails > 0 // one more may be handed out: see budget
}

// ready reports whether there is a task to place now.
func (l *Ledger) ready(now time.Time) bool {
	return l.head.State == Open &&
		(l.hasUnissued() || len(l.pending) > 0 && !l.pending[0].NotBefore.After(now))
}

// unstarted counts the tasks that a worker has, or is about to have, and that have not begun.
func (l *Ledger) unstarted(worker string) (n int) {
	for _, t := range l.assigned[worker] {
		if t.State != task.Running {
			n++
		}
	}
	return n
}

// assignedTo lists, in order, the tasks that a worker has or is about to have; "" means any worker.
// What becomes of them does not change the list.
func (l *Ledger) assignedTo(worker string) (tasks []*Task) {
	if worker != "" {
		return slices.Clone(l.assigned[worker])
	}
	for _, of := range l.assigned {
		tasks = append(tasks, of...)
	}
	slices.SortFunc(tasks, byIndex)
	return tasks
}

func byIndex(a, b *Task) int { return cmp.Compare(a.Index, b.Index) }
