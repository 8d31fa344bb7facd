package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Ledger owns the transitions of one sweep's tasks. It holds only tasks that have a row and have not ended, so a sweep
// of a million tasks costs it a window. Every method but Take is a pure step: the same calls in the same order leave
// the same ledger. It is for one goroutine.
type Ledger struct {
	head     Head
	rules    Retry
	maxFails int64
	ranges   Ranges
	revision string
	pins     []string // the n-th task is for the n-th of these workers; none: any task for any worker

	open           map[int64]*Task    // rows that have not ended
	pending        []*Task            // the pending ones of them, in the order of their turn
	assigned       map[string][]*Task // those that a worker has or is about to have, by index
	exclusive      map[int64]string   // the workers of those of them that are exclusive
	cancelledEarly map[int64]struct{} // rows beyond the cursor: cancelled before their turn

	sampled map[int64]sampled // of open tasks that sent any

	changes Changes
	touched []*Task   // rows that changed, in order, some more than once
	changed bool      // the head too
	clock   time.Time // until when head.Ran is counted; zero before the first Clock

	exclusivePending int      // exclusive tasks in waiting
	reassigned       []string // workers whose part of assigned changed, for the core, which empties it
	morePending      bool     // there are more tasks to place than before, for the core, which clears it
	offerTo          []string // workers for which there are, for the core, which empties it
}

// NewLedger makes the ledger of a sweep as the store has it: its head, the rows that have not ended, and the indexes of all
// rows that lie beyond the cursor. A new sweep has neither. What workers were asked to stop or give back is asked again
// with the first Take, as it is not known whether they heard it.
func NewLedger(r Record, h Head, open []Task, cancelledEarly []int64) *Ledger {
	l := &Ledger{
		head: h, rules: r.Retry, maxFails: r.MaxFailures, ranges: r.Ranges, revision: r.Recipe.Revision, pins: r.Workers,
		open: make(map[int64]*Task, len(open)), cancelledEarly: make(map[int64]struct{}, len(cancelledEarly)),
		assigned: map[string][]*Task{}, sampled: map[int64]sampled{}, exclusive: map[int64]string{},
	}
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

// Head is the sweep as it stands.
func (l *Ledger) Head() Head { return l.head }

// Clock counts the time since it was last called to the sweep's running time, if workers have any of its tasks and one of them
// has begun: before that they run those of other sweeps. It is to be called before each step.
func (l *Ledger) Clock(now time.Time) {
	if passed := now.Sub(l.clock); !l.clock.IsZero() && passed > 0 && len(l.assigned) > 0 && l.hasStarted() {
		l.head.Ran += passed.Truncate(time.Microsecond) // the store keeps no more
	}
	l.clock = now
}

// hasStarted reports whether a task runs or has ended.
func (l *Ledger) hasStarted() bool {
	for state, n := range l.head.Rows {
		if s := task.State(state); n > 0 && (s == task.Running || s.Terminal() && s != task.Cancelled) {
			return true
		}
	}
	return false
}

// Assigned is how many of the sweep's tasks a worker has or is about to have.
func (l *Ledger) Assigned(worker string) int { return len(l.assigned[worker]) }

// Revise lets attempts from now on run the revision of the sweep's record, and keeps to its rules.
func (l *Ledger) Revise(r Record) {
	l.revision, l.rules, l.maxFails = r.Recipe.Revision, r.Retry, r.MaxFailures
	l.morePending = true
}

// ordinal returns which of the sweep's tasks an index is, from 0; false when it is none of them.
func (l *Ledger) ordinal(index int64) (n int64, ok bool) {
	n, ok = l.ranges.Ordinal(index)
	return n, ok && n >= 0 && n < l.head.Total
}

// addRow gives a task its row.
func (l *Ledger) addRow(index int64) *Task {
	t := &Task{Index: index}
	l.open[index] = t
	l.head.Rows[task.Pending]++
	return t
}

// setState changes a row's state and the counts. What ended leaves the ledger.
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
	h := &l.head
	return h.State == Open && (!h.UnissuedCancelled && h.Issued < h.Total ||
		len(l.pending) > 0 && !l.pending[0].NotBefore.After(now))
}

// assignedTo lists, in order, the tasks that a worker has or is about to have; "" means any worker. What
// becomes of them does not change the list.
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
