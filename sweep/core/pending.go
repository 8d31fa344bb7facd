package core

import (
	"cmp"
	"slices"
	"time"
)

// wait puts a pending task in line: by the time it may start, then by index.
func (l *Ledger) wait(index int64) {
	at, _ := slices.BinarySearchFunc(l.waiting, index, l.order)
	l.waiting = slices.Insert(l.waiting, at, index)
	if l.open[index].alone() {
		l.waitingAlone++
	}
	l.gained = true
}

func (l *Ledger) order(a, b int64) int {
	return cmp.Or(l.open[a].NotBefore.Compare(l.open[b].NotBefore), cmp.Compare(a, b))
}

// unwait takes a task out of the line.
func (l *Ledger) unwait(index int64) {
	if at := slices.Index(l.waiting, index); at >= 0 {
		l.leave(at)
	}
}

// leave takes the task at a position out of the line.
func (l *Ledger) leave(at int) {
	if l.open[l.waiting[at]].alone() {
		l.waitingAlone--
	}
	if at == 0 {
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
	due := func(index int64, now time.Time) int {
		if l.open[index].NotBefore.After(now) {
			return 1
		}
		return -1
	}
	first, _ := slices.BinarySearchFunc(l.waiting, now, due)
	if first == len(l.waiting) {
		return time.Time{}
	}
	return l.open[l.waiting[first]].NotBefore
}
