package core

import (
	"math"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Offer is what a worker can take.
type Offer struct {
	Worker       string
	Tasks        int  // at most
	Empty        bool // it has no task of any sweep: an exclusive one fits
	Exclusive    bool // only such a task
	OtherWorkers bool // there are other workers, too
	Fitting      int  // tasks that fit on all workers; only of a sweep with max-failures
	// HasLeftovers reports whether processes of a task's last attempt, which has ended, are known
	// to be alive: the task has no other attempt before they are gone. Nil: none has.
	HasLeftovers func(*Task) bool
}

const (
	// After its back-off a task waits so long for the worker that has its outputs, or for another
	// than the one whose host could not run it.
	preferFor = time.Second
	avoidFor  = 10 * time.Second
	// maxScanned bounds the search for a task that fits, at the head of the line.
	maxScanned = 1000
	// exclusiveAfter is how often a task was lost before it has a worker to itself: which of the
	// tasks that a dying worker had ended it is not known, and those beside it must not be blamed.
	exclusiveAfter = 2
	// exclusiveWait is for how long an exclusive task waits until a worker is reserved for it.
	exclusiveWait = 10 * time.Second
)

// Place hands out tasks to a worker and returns them, which stay the ledger's; tasks that wait for
// another attempt go first.
func (l *Ledger) Place(o Offer, now time.Time) (placed []*Task) {
	if l.head.State != Open || l.HasExclusive(o.Worker) {
		return nil
	}
	for most := min(o.Tasks, l.budget(o.Fitting)); len(placed) < most; {
		t := l.next(o, now)
		if t == nil {
			break
		}
		l.leaveLapsed(t)
		t.NotBefore = time.Time{}
		t.countSince(l.revision)
		t.Attempt = Attempt{Number: t.Attempt.Number + 1, Revision: l.revision, Worker: o.Worker}
		l.setState(t, task.Queued)
		l.touch(t)
		placed = append(placed, t)
		o.Empty = false
		if t.exclusive() {
			l.exclusive[t.Index] = o.Worker
			break
		}
	}
	return placed
}

// budget is how many more tasks may be handed out while the ends of others are not known. With
// max-failures these are no more than may still fail, or than fit on all workers: so when the limit
// is reached nothing waits on a worker that would start and fail before it is recalled, and no more
// fail than the limit and one less than fit.
func (l *Ledger) budget(fitting int) int {
	if l.maxFails <= 0 {
		return math.MaxInt
	}
	h := &l.head
	left := l.maxFails - (h.Counts().Failures() - h.IgnoredFailures)
	out := h.Rows[task.Queued] + h.Rows[task.Claimed] + h.Rows[task.Running]
	return int(min(max(0, max(left, int64(fitting))-out), math.MaxInt32))
}

// Has reports whether there is a task to hand out to a worker.
func (l *Ledger) Has(o Offer, now time.Time) bool {
	return l.head.State == Open && !l.HasExclusive(o.Worker) && l.budget(o.Fitting) > 0 &&
		(l.findPending(o, now) >= 0 || !o.Exclusive && l.hasUnissued())
}

// next takes the task to hand out: one that waited long enough, else the first that was never
// handed out.
func (l *Ledger) next(o Offer, now time.Time) *Task {
	if n := l.findPending(o, now); n >= 0 {
		t := l.pending[n]
		l.removePending(n)
		return t
	}
	if o.Exclusive {
		return nil
	}
	return l.issueNext()
}

// findPending returns the position of the first pending task that may be placed on a worker now;
// -1: there is none.
func (l *Ledger) findPending(o Offer, now time.Time) int {
	for n, t := range l.pending[:min(len(l.pending), maxScanned)] {
		if t.NotBefore.After(now) {
			break
		}
		if l.fits(t, o, now) {
			return n
		}
	}
	return -1
}

// hasUnissued reports whether there are tasks that were never handed out.
func (l *Ledger) hasUnissued() bool {
	return !l.head.UnissuedCancelled && l.head.Issued < l.head.Total
}

// fits reports whether a pending task may be placed on a worker now.
func (l *Ledger) fits(t *Task, o Offer, now time.Time) bool {
	only, last := l.only(t, now, o.OtherWorkers), t.Attempt.Outcome
	switch {
	case only != "" && only != o.Worker, t.exclusive() && !o.Empty, o.Exclusive && !t.exclusive():
		return false
	case last == nil:
		return true
	case last.Class == task.Loss && t.Attempt.Worker == o.Worker && o.OtherWorkers && only == "" &&
		now.Sub(t.NotBefore) < avoidFor:
		return false
	}
	return o.HasLeftovers == nil || !o.HasLeftovers(t)
}

// only returns the worker that alone may have a pending task now: the one that the task is for or,
// if there are others, for a while the one that has its outputs; "" means any.
func (l *Ledger) only(t *Task, now time.Time, others bool) string {
	switch last := t.Attempt.Outcome; {
	case len(l.pins) > 0:
		return l.pin(t.Index)
	case !others, last == nil, last.Class == task.Loss, now.Sub(t.NotBefore) >= preferFor:
		return ""
	}
	return t.Attempt.Worker
}

// forAny reports whether there is a task to place now that any worker may have; an exclusive one
// counts if a worker is empty.
func (l *Ledger) forAny(now time.Time, others, empty bool) bool {
	if l.hasUnissued() {
		return true
	}
	for _, t := range l.pending[:min(len(l.pending), maxScanned)] {
		if t.NotBefore.After(now) {
			return false
		}
		if l.only(t, now, others) == "" && (empty || !t.exclusive()) {
			return true
		}
	}
	return false
}

// issueNext is the first task that was never handed out, with a row from now on.
func (l *Ledger) issueNext() *Task {
	for l.hasUnissued() {
		index := l.source.At(l.head.Issued)
		l.head.Issued++
		l.changed = true
		if _, ok := l.cancelledEarly[index]; ok {
			delete(l.cancelledEarly, index)
			continue
		}
		return l.addRow(index)
	}
	return nil
}

// issueAll gives every task its row: those of a sweep whose tasks are for certain workers leave in
// any order.
func (l *Ledger) issueAll() {
	for t := l.issueNext(); t != nil; t = l.issueNext() {
		l.enqueue(t)
		l.touch(t)
	}
}

// pin is the worker for which a task is, of a sweep that has one for each.
func (l *Ledger) pin(index int64) string {
	if n, ok := l.source.Ordinal(index); ok && n >= 0 && n < int64(len(l.pins)) {
		return l.pins[n]
	}
	return ""
}

// Pinned lists the pending tasks that only one worker can run.
func (l *Ledger) Pinned(worker string) (all []Task) {
	if !l.hasPin(worker) {
		return nil
	}
	for _, t := range l.pending {
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
	for _, t := range slices.Clone(l.pending) {
		if l.pin(t.Index) == worker {
			l.dequeue(t)
			l.cancel(t)
		}
	}
	l.endIfDone(now)
}
