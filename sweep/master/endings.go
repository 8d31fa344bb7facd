package master

import (
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// endings are attempts of a worker that have ended while processes that their programs left are still being ended, and when
// that was told.
type endings map[doubt]telling

type telling struct {
	by, at time.Time // by the worker's clock, and by this process's
}

// leaves notes the end of an attempt that left processes.
func (w *member) leaves(e task.Event, now time.Time) {
	if !e.Leftovers || e.Kind != task.EndedEvent || w.away != "" {
		return
	}
	if w.endings == nil {
		w.endings = endings{}
	}
	w.endings[doubt{e.Sweep, e.Index, e.Attempt}] = telling{e.Time, now}
}

// compare drops attempts of which nothing is alive, as the worker says in a heartbeat that was made after their end:
// by its own clock or, as that may have been set back since, because it came so much later.
func (all endings) compare(h task.Heartbeat, now time.Time, later time.Duration) {
	for d, told := range all {
		if (h.Time.After(told.by) || now.Sub(told.at) >= later) && !listed(h.Leftovers, d) {
			delete(all, d)
		}
	}
}

func listed(all []task.Busy, d doubt) bool {
	return slices.ContainsFunc(all, func(b task.Busy) bool { return doubt{b.Sweep, b.Index, b.Attempt} == d })
}

// lives tells of attempts of a sweep that have ended whether their worker, which is there, still ends processes of theirs. Of
// one that has not been heard since this process started that is not known.
func (m *Master) lives(id string) func(int64, core.Try) bool {
	return func(index int64, t core.Try) bool {
		w := m.workers[t.Worker]
		if w == nil || w.away != "" || t.Outcome.Class == task.Loss || m.o.Alone {
			return false
		}
		d := doubt{id, index, t.Number}
		_, noted := w.endings[d]
		return noted || w.registered() && listed(w.beat.Leftovers, d) || w.seen.IsZero()
	}
}
