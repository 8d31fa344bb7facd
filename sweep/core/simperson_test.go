package core_test

import (
	"maps"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// person does what people do.
func (w *world) person() {
	l, total := w.ledger, w.store.head.Total
	index := w.store.record.Ranges.At(w.Int64N(total))
	switch w.IntN(9) {
	case 0:
		l.Pause("wait", false)
	case 1:
		l.Pause("wait", true)
	case 2, 3:
		l.Resume(w.now)
	case 4, 5:
		if l.CancelTask(index, "enough", w.now) == nil {
			w.history.cancelled(index)
		}
	case 6:
		if w.IntN(3) == 0 && l.Head().State != core.Finished {
			before := l.Dump()
			l.Cancel("enough", w.now)
			for n := range total {
				i := w.store.record.Ranges.At(n)
				_, open := before.Open[i]
				if open || n >= before.Head.Issued && !slices.Contains(before.Ahead, i) {
					w.history.cancelled(i)
				}
			}
		}
	case 7:
		w.retry()
	case 8:
		if more := 1 + w.Int64N(3); total+more <= 23 { // as many as the ranges hold
			l.Extend(w.store.record, more)
		}
	}
}

// ended tells whether the store has the end of a task, and the ledger did not take it up again since.
func (w *world) ended(index int64) bool {
	row, have := w.store.rows[index]
	_, open := w.ledger.Dump().Open[index]
	return have && row.State.Terminal() && !open
}

// retry takes up what ended, all or a part, from the store as it was committed.
func (w *world) retry() {
	all := w.IntN(2) == 0
	var ended []core.Task
	for _, i := range slices.Sorted(maps.Keys(w.store.rows)) {
		if w.ended(i) && (all || w.IntN(2) == 0) {
			ended = append(ended, w.store.rows[i])
		}
	}
	cut := w.ledger.Head().Cut
	if w.ledger.Reopen(ended, all) == 0 {
		return
	}
	for _, t := range ended {
		if t.State != task.Succeeded {
			w.history.retried(t.Index)
		}
	}
	for n := range w.store.head.Total {
		if i := w.store.record.Ranges.At(n); all && cut {
			if _, have := w.store.rows[i]; !have {
				w.history.retried(i)
			}
		}
	}
}
