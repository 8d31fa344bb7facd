package core

import (
	"cmp"
	"slices"
	"time"
)

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
