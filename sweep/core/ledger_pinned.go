package core

import (
	"slices"
	"time"
)

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
