package core

import (
	"math"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Offer is room that a worker has for tasks.
type Offer struct {
	Worker string
	Tasks  int  // at most
	Empty  bool // it has no task of any sweep: one that has to be alone fits
	Alone  bool // only such a task
	Others bool // there are other workers, too
	Slots  int  // of all workers that take tasks, together
	// Lives, where not nil, tells whether anything of an attempt that has ended is known to be alive: its task has no other before
	// that is gone.
	Lives func(*Task) bool
}

const (
	// After its back-off a task waits so long for the worker that has its outputs, or for another than the one whose host
	// could not run it.
	preferFor = time.Second
	avoidFor  = 10 * time.Second
	// mostPassed bounds the search for a task that fits, at the head of the line.
	mostPassed = 1000
	// aloneAfter is how often a task was lost before it runs alone: which of the tasks that a dying worker had ended it is
	// not known, and those beside it must not be blamed.
	aloneAfter = 2
	// lonelyAfter is for how long it waits until a worker is emptied for it.
	lonelyAfter = 10 * time.Second
)

// alone tells whether a task may share a worker with no other.
func (t *Task) alone() bool { return t.Charged.Lost >= aloneAfter }

// Place hands out tasks to a worker and returns them; tasks that wait for another attempt go first.
func (l *Ledger) Place(o Offer, now time.Time) []Task {
	if l.head.State != Open || l.Solo(o.Worker) {
		return nil
	}
	var placed []Task
	for room := min(o.Tasks, l.budget(o.Slots)); len(placed) < room; {
		t := l.next(o, now)
		if t == nil {
			break
		}
		t.NotBefore = time.Time{}
		t.Try = Try{Number: t.Try.Number + 1, Revision: l.revision, Worker: o.Worker}
		l.move(t, task.Queued)
		l.touch(t)
		placed = append(placed, *t)
		o.Empty = false
		if t.alone() {
			l.solo[t.Index] = o.Worker
			break
		}
	}
	return placed
}

// budget is how many more tasks may be handed out while the ends of others are not known. With max-failures these are no
// more than may still fail, or than there are slots: so when the limit is reached nothing waits on a worker that would begin
// and fail before it is recalled, and no more fail than the limit and one less than the slots.
func (l *Ledger) budget(slots int) int {
	if l.maxFails <= 0 {
		return math.MaxInt
	}
	h := &l.head
	left := l.maxFails - (h.Counts().Failures() - h.Forgiven)
	out := h.Rows[task.Queued] + h.Rows[task.Claimed] + h.Rows[task.Running]
	return int(min(max(0, max(left, int64(slots))-out), math.MaxInt32))
}

// Solo tells whether a worker has a task of the sweep that must have it alone.
func (l *Ledger) Solo(worker string) bool {
	if len(l.solo) == 0 {
		return false
	}
	for _, w := range l.solo {
		if w == worker {
			return true
		}
	}
	return false
}

// next takes the task to hand out: one that waited long enough, else the first that was never handed out.
func (l *Ledger) next(o Offer, now time.Time) *Task {
	for n, t := range l.waiting[:min(len(l.waiting), mostPassed)] {
		if t.NotBefore.After(now) {
			break
		}
		if l.fits(t, o, now) {
			l.leave(n)
			return t
		}
	}
	if o.Alone {
		return nil
	}
	return l.fresh()
}

// Lonely tells whether a task that has to be alone waits for an empty worker for long, since none gets empty by itself.
func (l *Ledger) Lonely(now time.Time) bool {
	if l.head.State != Open || l.waitingAlone == 0 {
		return false
	}
	for _, t := range l.waiting[:min(len(l.waiting), mostPassed)] {
		if t.alone() && now.Sub(t.NotBefore) >= lonelyAfter {
			return true
		}
	}
	return false
}

// fits tells whether a task that waits may go to a worker now.
func (l *Ledger) fits(t *Task, o Offer, now time.Time) bool {
	if len(l.pins) > 0 && l.pin(t.Index) != o.Worker || t.alone() && !o.Empty || o.Alone && !t.alone() {
		return false
	}
	last := t.Try.Outcome
	if last == nil {
		return true
	}
	if o.Others && len(l.pins) == 0 {
		waited, there := now.Sub(t.NotBefore), t.Try.Worker == o.Worker
		if last.Class == task.Loss {
			if there && waited < avoidFor {
				return false
			}
		} else if !there && waited < preferFor {
			return false
		}
	}
	return o.Lives == nil || !o.Lives(t)
}

// pin is the worker for which a task is, of a sweep that has one for each.
func (l *Ledger) pin(index int64) string {
	if n, ok := l.ranges.Ordinal(index); ok && n >= 0 && n < int64(len(l.pins)) {
		return l.pins[n]
	}
	return ""
}

// Pinned lists the pending tasks that only one worker can run.
func (l *Ledger) Pinned(worker string) (all []Task) {
	if !l.hasPin(worker) {
		return nil
	}
	for _, t := range l.waiting {
		if l.pin(t.Index) == worker {
			all = append(all, *t)
		}
	}
	return all
}

// hasPin reports whether tasks of the sweep are for one worker only.
func (l *Ledger) hasPin(worker string) bool { return slices.Contains(l.pins, worker) }

// CancelPinned cancels the tasks that only a worker could run which is gone for good.
func (l *Ledger) CancelPinned(worker string, now time.Time) {
	if !l.hasPin(worker) {
		return
	}
	for _, t := range slices.Clone(l.waiting) {
		if l.pin(t.Index) == worker {
			l.unwait(t)
			l.cancel(t)
		}
	}
	l.settle(now)
}

// fresh is the first task that was never handed out, with a row from now on.
func (l *Ledger) fresh() *Task {
	for !l.head.Cut && l.head.Issued < l.head.Total {
		index := l.ranges.At(l.head.Issued)
		l.head.Issued++
		l.changed = true
		if _, ok := l.ahead[index]; ok {
			delete(l.ahead, index)
			continue
		}
		return l.add(index)
	}
	return nil
}

// issue gives every task its row: those of a sweep whose tasks are for certain workers leave in any order.
func (l *Ledger) issue() {
	for t := l.fresh(); t != nil; t = l.fresh() {
		l.wait(t)
		l.touch(t)
	}
}
