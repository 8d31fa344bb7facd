package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Ledger owns the transitions of one sweep's tasks. It holds only tasks that have a row and have
// not ended, so that a sweep of a million tasks costs little memory. Every method but TakeChanges
// is a pure step: the same calls in the same order leave the same ledger. It is for one goroutine.
type Ledger struct {
	head      Head
	rules     task.Retry
	maxFails  int64
	keepGoing bool
	first     firstFailures
	source    Source
	needs     needs // of each task
	revision  string
	pins      []string // the n-th task is for the n-th of these workers; empty: for any worker

	open           map[int64]*Task    // rows that have not ended
	pending        []*Task            // the pending ones of them, in the order of their turn
	assigned       map[string][]*Task // by worker, those that it has or is about to have, by index
	exclusive      map[int64]string   // the workers of those of them that are exclusive
	lapsed         map[int64]*Task    // pending tasks whose attempt may still run
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
		head: h, pins: r.Workers, needs: newNeeds(r.Recipe.Needs),
		open:           make(map[int64]*Task, len(open)),
		cancelledEarly: make(map[int64]struct{}, len(cancelledEarly)),
		assigned:       map[string][]*Task{}, sampled: map[int64]sampled{},
		exclusive: map[int64]string{}, lapsed: map[int64]*Task{},
	}
	l.head.Waits, l.head.Silent = "", "" // the next tick sets them
	l.setRecord(r)
	for _, t := range open {
		l.open[t.Index] = &t
		switch {
		case t.State == task.Pending:
			l.pending = append(l.pending, &t)
			if t.exclusive() {
				l.exclusivePending++
			}
			if t.Lapsed != task.Pending {
				l.lapsed[t.Index] = &t
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
	l.rules, l.maxFails, l.keepGoing = r.Retry, r.MaxFailures, r.KeepGoing
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

// enqueue puts a pending task in line: by the time it may start, then by index.
func (l *Ledger) enqueue(t *Task) {
	at, _ := slices.BinarySearchFunc(l.pending, t, byTime)
	l.pending = slices.Insert(l.pending, at, t)
	if t.exclusive() {
		l.exclusivePending++
	}
	l.offer(t)
}

// offer has the core look at the workers that may have a pending task: the only one, or all.
func (l *Ledger) offer(t *Task) {
	if only := l.only(t, l.clock, true); only != "" {
		l.offerTo = append(l.offerTo, only)
	} else {
		l.morePending = true
	}
}

// offerDue does so for the tasks whose back-off ended between two times, both included.
func (l *Ledger) offerDue(from, to time.Time) {
	at, _ := slices.BinarySearchFunc(l.pending, from, func(t *Task, from time.Time) int {
		return cmp.Or(t.NotBefore.Compare(from), 1)
	})
	for _, t := range l.pending[at:] {
		if t.NotBefore.After(to) {
			return
		}
		l.offer(t)
	}
}

func byTime(a, b *Task) int {
	return cmp.Or(a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.Index, b.Index))
}

// dequeue takes a task out of the line.
func (l *Ledger) dequeue(t *Task) {
	if at, found := slices.BinarySearchFunc(l.pending, t, byTime); found {
		l.removePending(at)
	}
}

// removePending takes the task at a position out of the line.
func (l *Ledger) removePending(at int) {
	if l.pending[at].exclusive() {
		l.exclusivePending--
	}
	if at == 0 {
		l.pending[0] = nil
		l.pending = l.pending[1:]
	} else {
		l.pending = slices.Delete(l.pending, at, at+1)
	}
}

// NextDue is the next moment after now at which a task that backs off can be handed out; zero when
// there is none.
func (l *Ledger) NextDue(now time.Time) time.Time {
	if l.head.State != Open {
		return time.Time{}
	}
	due := func(t *Task, now time.Time) int {
		if t.NotBefore.After(now) {
			return 1
		}
		return -1
	}
	first, _ := slices.BinarySearchFunc(l.pending, now, due)
	if first == len(l.pending) {
		return time.Time{}
	}
	return l.pending[first].NotBefore
}

// Changes is what steps of a ledger ask of the world, in the order in which it must happen: the
// store keeps the rows, and then the workers get Controls.
type Changes struct {
	Head        Head
	Tasks       []Task
	OldAttempts []OldAttempt // attempts that are no longer the newest of their task
	LateStarts  []OldAttempt // Start and Started of attempts that were lost before they were known
	Samples     []Samples
	Controls    []Order
}

// OldAttempt is an attempt that its task has left behind.
type OldAttempt struct {
	Index   int64
	Attempt Attempt
}

// Samples is metrics seen of one attempt.
type Samples struct {
	Index   int64
	Attempt int
	Points  []metric.Sample
}

// Order is a control message for one worker.
type Order struct {
	Worker  string
	Control task.Control
}

// Empty reports whether nothing has to be done.
func (c *Changes) Empty() bool {
	n := len(c.Tasks) + len(c.OldAttempts) + len(c.LateStarts) + len(c.Samples) + len(c.Controls)
	return n == 0 && c.Head.ID == ""
}

// TakeChanges returns what has to be done since the last call, and forgets it: of each row only its
// newest form. Head is zero when it did not change.
func (l *Ledger) TakeChanges() Changes {
	c := l.changes
	c.Tasks = newest(l.touched)
	if l.changed {
		c.Head = l.head
	}
	clear(l.touched)
	l.changes, l.changed, l.touched = Changes{}, false, l.touched[:0]
	return c
}

// newest returns the rows that were touched, each once, in the order in which they last were.
func newest(touched []*Task) []Task {
	if len(touched) == 0 {
		return nil
	}
	rows := make([]Task, 0, len(touched))
	seen := make(map[int64]struct{}, len(touched))
	for _, t := range slices.Backward(touched) {
		if _, again := seen[t.Index]; !again {
			seen[t.Index] = struct{}{}
			rows = append(rows, *t)
		}
	}
	slices.Reverse(rows)
	return rows
}

// touch notes that a row, and with it the head, must be kept.
func (l *Ledger) touch(t *Task) {
	l.touchRow(t)
	l.changed = true
}

// touchRow notes that a row must be kept.
func (l *Ledger) touchRow(t *Task) {
	if last := len(l.touched) - 1; last < 0 || l.touched[last] != t {
		l.touched = append(l.touched, t)
	}
}

// Measure keeps other metrics of a task that has ended.
func (l *Ledger) Measure(t Task) { l.touchRow(&t) }

func (l *Ledger) sendControl(worker string, c task.Control) {
	c.Version, c.Sweep = task.Version, l.head.ID
	l.changes.Controls = append(l.changes.Controls, Order{worker, c})
}
