package core

import (
	"cmp"
	"slices"
	"time"
)

// wait puts a pending task in line: by the time it may start, then by index.
func (l *Ledger) wait(t *Task) {
	at, _ := slices.BinarySearchFunc(l.waiting, t, byTime)
	l.waiting = slices.Insert(l.waiting, at, t)
	if t.exclusive() {
		l.exclusives++
	}
	l.offer(t)
}

// offer has the core look at the workers that may have a pending task: the only one, or all.
func (l *Ledger) offer(t *Task) {
	if only := l.only(t, l.clock, true); only != "" {
		l.wanted = append(l.wanted, only)
	} else {
		l.gained = true
	}
}

// offerDue does so for the tasks whose back-off ended between two times, both included.
func (l *Ledger) offerDue(from, to time.Time) {
	at, _ := slices.BinarySearchFunc(l.waiting, from, func(t *Task, from time.Time) int {
		return cmp.Or(t.NotBefore.Compare(from), 1)
	})
	for _, t := range l.waiting[at:] {
		if t.NotBefore.After(to) {
			return
		}
		l.offer(t)
	}
}

func byTime(a, b *Task) int {
	return cmp.Or(a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.Index, b.Index))
}

// unwait takes a task out of the line.
func (l *Ledger) unwait(t *Task) {
	if at, found := slices.BinarySearchFunc(l.waiting, t, byTime); found {
		l.leave(at)
	}
}

// leave takes the task at a position out of the line.
func (l *Ledger) leave(at int) {
	if l.waiting[at].exclusive() {
		l.exclusives--
	}
	if at == 0 {
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
	} else {
		l.waiting = slices.Delete(l.waiting, at, at+1)
	}
}

// Waiting is the next moment after now at which a task that backs off can be handed out; zero when there is none.
func (l *Ledger) Waiting(now time.Time) time.Time {
	if l.head.State != Open {
		return time.Time{}
	}
	due := func(t *Task, now time.Time) int {
		if t.NotBefore.After(now) {
			return 1
		}
		return -1
	}
	first, _ := slices.BinarySearchFunc(l.waiting, now, due)
	if first == len(l.waiting) {
		return time.Time{}
	}
	return l.waiting[first].NotBefore
}
