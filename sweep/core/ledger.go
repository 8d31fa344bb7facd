package core

import (
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

	open    map[int64]*Task    // rows that have not ended
	waiting []int64            // those of them that are pending, in the order in which they are handed out again
	load    map[string]int     // how many of them each worker has
	solo    map[int64]string   // those of them that a worker has for itself alone
	ahead   map[int64]struct{} // rows beyond the cursor: a person cancelled them before their turn

	changes Changes
	changed bool      // the head too
	clock   time.Time // until when head.Ran is counted; zero before the first Clock
}

// NewLedger makes the ledger of a sweep as the store has it: its head, the rows that have not ended, and the indexes of all
// rows that lie beyond the cursor. A new sweep has neither. What workers were asked to stop or give back is asked again
// with the first Take, as it is not known whether they heard it.
func NewLedger(r Record, h Head, open []Task, ahead []int64) *Ledger {
	l := &Ledger{
		head: h, rules: r.Retry, maxFails: r.MaxFailures, ranges: r.Ranges, revision: r.Recipe.Revision, pins: r.Workers,
		open: make(map[int64]*Task, len(open)), ahead: make(map[int64]struct{}, len(ahead)),
		load: map[string]int{}, solo: map[int64]string{},
	}
	for _, t := range open {
		l.open[t.Index] = &t
		switch {
		case t.State == task.Pending:
			l.waiting = append(l.waiting, t.Index)
		case t.State.Active():
			l.load[t.Try.Worker]++
			if t.alone() {
				l.solo[t.Index] = t.Try.Worker
			}
		}
	}
	slices.SortFunc(l.waiting, l.order)
	for _, i := range ahead {
		l.ahead[i] = struct{}{}
	}
	for _, i := range l.held("") {
		l.hold(l.open[i])
	}
	if len(l.pins) > 0 {
		l.issue()
	}
	return l
}

// Head is the sweep as it stands.
func (l *Ledger) Head() Head { return l.head }

// Clock counts the time since it was last called to the sweep's running time, if workers have any of its tasks and one of them
// has begun: before that they run those of other sweeps. It is to be called before each step.
func (l *Ledger) Clock(now time.Time) {
	if passed := now.Sub(l.clock); !l.clock.IsZero() && passed > 0 && len(l.load) > 0 && l.begun() {
		l.head.Ran += passed.Truncate(time.Microsecond) // the store keeps no more
	}
	l.clock = now
}

// begun reports whether a task runs or has ended.
func (l *Ledger) begun() bool {
	for state, n := range l.head.Rows {
		if s := task.State(state); n > 0 && (s == task.Running || s.Terminal() && s != task.Cancelled) {
			return true
		}
	}
	return false
}

// Load is how many of the sweep's tasks a worker has or is about to have.
func (l *Ledger) Load(worker string) int { return l.load[worker] }

// Revise lets attempts from now on run the revision of the sweep's record, and keeps to its rules.
func (l *Ledger) Revise(r Record) {
	l.revision, l.rules, l.maxFails = r.Recipe.Revision, r.Retry, r.MaxFailures
}

// add gives a task its row.
func (l *Ledger) add(index int64) *Task {
	t := &Task{Index: index}
	l.open[index] = t
	l.head.Rows[task.Pending]++
	return t
}

// move changes a row's state and the counts. What ended leaves the ledger.
func (l *Ledger) move(t *Task, to task.State) {
	if before, after := t.State.Active(), to.Active(); before != after {
		if after {
			l.load[t.Try.Worker]++
		} else {
			if l.load[t.Try.Worker]--; l.load[t.Try.Worker] == 0 {
				delete(l.load, t.Try.Worker)
			}
			delete(l.solo, t.Index)
		}
	}
	l.head.Rows[t.State]--
	l.head.Rows[to]++
	t.State = to
	if to.Terminal() {
		delete(l.open, t.Index)
	}
}
