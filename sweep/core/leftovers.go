package core

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// leftovers are attempts of a worker that have ended while processes that their programs left are
// still being ended, and when that was reported.
type leftovers map[attemptKey]leftoverNotice

// lateHeartbeat is the maximum delay of a heartbeat.
const lateHeartbeat = 10 * time.Second

type leftoverNotice struct {
	theirs, ours time.Time // by the worker's clock, and by the master's
}

// noteLeftovers notes the end of an attempt that left processes.
func (w *worker) noteLeftovers(e *task.Event, now time.Time) {
	if !e.Leftovers || e.Kind != task.EndedEvent || w.awayReason != "" {
		return
	}
	if w.leftovers == nil {
		w.leftovers = leftovers{}
	}
	w.leftovers[attemptKey{e.Sweep, e.Index, e.Attempt}] = leftoverNotice{e.Time, now}
}

// resolve drops attempts of which nothing is alive, as the worker says in a heartbeat that was made
// after their end: by its own clock or, as that may have been set back since, because it came so
// much later. It reports whether there were any.
func (l leftovers) resolve(h *task.Heartbeat, now time.Time, later time.Duration) (resolved bool) {
	for key, n := range l {
		if (h.Time.After(n.theirs) || now.Sub(n.ours) >= later) && !listed(h.Leftovers, key) {
			delete(l, key)
			resolved = true
		}
	}
	return resolved
}

func listed(all []task.Busy, key attemptKey) bool {
	return slices.ContainsFunc(all, func(b task.Busy) bool { return keyOf(&b) == key })
}

// hasLeftovers returns what reports of attempts of a sweep that have ended whether their worker,
// which is there, still ends processes of theirs. Of one that has not been heard since the core was
// loaded that is not known.
func (c *Core) hasLeftovers(a *activeSweep) func(*Task) bool {
	return func(t *Task) bool {
		w := c.workers[t.Attempt.Worker]
		if c.options.Local || w == nil || w.awayReason != "" ||
			t.Attempt.Outcome.Class == task.Loss {
			return false
		}
		key := attemptKey{a.id(), t.Index, t.Attempt.Number}
		_, noted := w.leftovers[key]
		return noted || w.registered() && listed(w.beat.Leftovers, key) || w.seenAt.IsZero()
	}
}
