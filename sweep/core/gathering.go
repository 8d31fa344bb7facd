package core

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// gathering is a worker whose host keeps what becomes free for a sweep, until there is enough for a
// task of it. Nothing is sent for that: the worker may change. The zero value is none.
type gathering struct {
	sweep  *activeSweep
	worker *worker
}

// starvedAfter is how long a sweep keeps its turn because smaller needs take what becomes free.
// Then a worker gathers for it. It changes for one that is expected to have enough earlier by as
// much.
const starvedAfter = 30 * time.Second

// gather chooses the worker that gathers, and the sweep: the first that starves.
func (c *Core) gather() {
	if now := c.gathering.sweep; now != nil && c.starves(now) && c.gatherFor(now) {
		return
	}
	if c.reserving > 0 && !c.queue.empty() {
		for e := c.queue.levels[0].sweeps.Front(); e != nil; e = e.Next() {
			if a := e.Value.(*activeSweep); c.starves(a) && c.gatherFor(a) {
				return
			}
		}
	}
	c.setGathering(gathering{})
}

// gatherFor has a worker gather for a sweep, the one that is expected to have enough first. It
// reports whether there is one that could.
func (c *Core) gatherFor(a *activeSweep) bool {
	best, least := gathering{}, time.Duration(0)
	for _, w := range c.ordered {
		if w.record.Name == c.exclusiveWorker || !w.couldStart(a) || w.fit(a) == 0 ||
			!a.ledger.Has(c.offerOf(c.offer(w), a, 1), c.now) {
			continue
		}
		is, wait := gathering{a, w}, c.expectedWait(w, a)
		if is == c.gathering {
			wait -= starvedAfter // what it has gathered would be given away
		}
		if best.worker == nil || wait < least {
			best, least = is, wait
		}
	}
	if best.worker == nil {
		return false
	}
	c.setGathering(best)
	return true
}

func (c *Core) setGathering(g gathering) {
	if before := c.gathering.worker; before != nil && before != g.worker {
		c.consider(before)
	}
	c.gathering = g
}

// starves reports whether a sweep keeps its turn while others need less of something: those of a
// lower priority, or any if none of its tasks has been placed for long.
func (c *Core) starves(a *activeSweep) bool {
	h := &a.ledger.head
	if a.turn == nil || a.keptSince.IsZero() || c.outranked(a) {
		return false
	}
	long := c.now.Sub(a.keptSince) >= starvedAfter &&
		h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] == 0
	return slices.ContainsFunc(c.inOrder, func(other *activeSweep) bool {
		return (long || other.record.Priority < a.record.Priority) &&
			a.ledger.needs.exceeds(&other.ledger.needs)
	})
}

// expectedWait returns how long it takes until the host of a worker that could start a task of a
// sweep has enough for it, if no other task gets any. Tasks that have not started do not count.
func (c *Core) expectedWait(w *worker, a *activeSweep) time.Duration {
	n, g := &a.ledger.needs, &w.gpus
	busy, cores := make([]time.Duration, len(g.devices)), []time.Duration{}
	for _, on := range w.host.workers {
		for _, h := range on.assigned {
			for _, t := range h.sweep.ledger.assigned[on.record.Name] {
				if t.State != task.Running {
					continue
				}
				rest := h.sweep.expectedRest(t, c.now)
				for _, d := range t.Attempt.Devices {
					if i := g.index(d.UUID); i >= 0 {
						busy[i] = max(busy[i], rest)
					}
				}
				for range on.slotsFor(&h.sweep.ledger.needs) {
					cores = append(cores, rest)
				}
			}
		}
	}
	var waits []time.Duration
	for _, i := range g.meeting(n.GPUs) {
		if g.usable[i] > 0 {
			waits = append(waits, busy[i])
		}
	}
	wait := time.Duration(0)
	if slices.Sort(waits); n.GPUs.All {
		wait = waits[len(waits)-1]
	} else if n.devices > 0 {
		wait = waits[n.devices-1]
	}
	slices.Sort(cores)
	if lacking := w.slotsFor(n) - (w.slots - len(cores)); lacking > 0 {
		wait = max(wait, cores[min(lacking, len(cores))-1])
	}
	return wait
}

// expectedRest is how much longer a running task is expected to take: what it lacks of the mean of
// its sweep, or as much again as it is beyond that.
func (a *activeSweep) expectedRest(t *Task, now time.Time) time.Duration {
	return (a.mean - now.Sub(t.Attempt.Started)).Abs()
}

// gathersFor returns the sweep for which a worker gathers; nil: it gathers nothing.
func (c *Core) gathersFor(w *worker) *activeSweep {
	if c.gathering.worker != w || !c.starves(c.gathering.sweep) {
		return nil
	}
	return c.gathering.sweep
}

// gather gives the sweep for which the worker gathers a task, before anybody else gets anything, if
// there is enough; if not, others get nothing of what the task could have. It reports whether that
// is all: the task also needs more slots than one.
func (f *filling) gather(a *activeSweep) (full bool) {
	n := &a.ledger.needs
	if f.reserved.more(f, a) > 0 {
		a.level.rotate(a)
		if f.give(a, 1) {
			return false
		}
	}
	if f.w.slotsFor(n) > 1 {
		return true
	}
	f.reserved.look(f).keep(n)
	return false
}
