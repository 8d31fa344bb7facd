package core

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// gathering is a worker that keeps GPUs that become free for a sweep, until there are enough for a
// task of it. Nothing is sent for that: the worker may change. The zero value is none.
type gathering struct {
	sweep  *activeSweep
	worker *worker
}

// starvedAfter is how long a sweep keeps its turn because smaller needs take every GPU that becomes
// free. Then a worker gathers GPUs for it. It changes for one that is expected to have enough
// earlier by as much.
const starvedAfter = 30 * time.Second

// gather chooses the worker that gathers GPUs, and the sweep: the first that starves.
func (c *Core) gather() {
	if now := c.gathering.sweep; now != nil && c.starves(now) && c.gatherFor(now) {
		return
	}
	if c.withGPUs > 1 && !c.queue.empty() {
		for e := c.queue.levels[0].sweeps.Front(); e != nil; e = e.Next() {
			if a := e.Value.(*activeSweep); c.starves(a) && c.gatherFor(a) {
				return
			}
		}
	}
	c.setGathering(gathering{})
}

// gatherFor has a worker gather GPUs for a sweep, the one that is expected to have enough first. It
// reports whether there is one that could.
func (c *Core) gatherFor(a *activeSweep) bool {
	best, least := gathering{}, time.Duration(0)
	for _, w := range c.ordered {
		if w.record.Name == c.exclusiveWorker || !w.couldStart(a) ||
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

// starves reports whether a sweep keeps its turn for long, while others with smaller needs have
// GPUs.
func (c *Core) starves(a *activeSweep) bool {
	h := &a.ledger.head
	if a.turn == nil || a.keptSince.IsZero() || c.now.Sub(a.keptSince) < starvedAfter ||
		c.outranked(a) || h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] > 0 {
		return false
	}
	return slices.ContainsFunc(c.inOrder, func(other *activeSweep) bool {
		n := other.ledger.needs.GPUs
		return n > 0 && n < a.ledger.needs.GPUs
	})
}

// expectedWait returns how long it takes until a worker that could start a task of a sweep has the
// GPUs for it, if nobody else gets any. What has not begun is not looked at: it will have.
func (c *Core) expectedWait(w *worker, a *activeSweep) time.Duration {
	busy := make([]time.Duration, len(w.gpus.devices))
	for _, h := range w.assigned {
		if h.sweep.ledger.needs.GPUs == 0 {
			continue
		}
		for _, t := range h.sweep.ledger.assigned[w.record.Name] {
			for _, uuid := range t.devices() {
				if i := w.deviceIndex(uuid); i >= 0 {
					busy[i] = max(busy[i], h.sweep.expectedRest(t, c.now))
				}
			}
		}
	}
	var waits []time.Duration
	for _, i := range w.gpus.meeting(a.record.Recipe.GPUs) {
		if w.gpus.room.free[i] > 0 {
			waits = append(waits, busy[i])
		}
	}
	slices.Sort(waits)
	return waits[max(1, a.ledger.needs.GPUs/gpuUnits)-1]
}

// expectedRest is how much longer a running task is expected to take: what it lacks of the mean of
// its sweep, or as much again as it is beyond that.
func (a *activeSweep) expectedRest(t *Task, now time.Time) time.Duration {
	return (a.mean - now.Sub(t.Attempt.Started)).Abs()
}

// gathersFor returns the sweep for which a worker gathers GPUs; nil: it gathers none.
func (c *Core) gathersFor(w *worker) *activeSweep {
	if c.gathering.worker != w || !c.starves(c.gathering.sweep) {
		return nil
	}
	return c.gathering.sweep
}

// gather gives the sweep for which the worker gathers GPUs a task, before anybody else gets
// anything, if there are enough; if not, others get none of the GPUs that the task could have.
func (f *filling) gather(a *activeSweep) {
	f.gpus.kept = true
	if f.more(a) > 0 {
		a.level.rotate(a)
		if f.give(a, 1) {
			return
		}
	}
	f.gpus.room.take(f.w, a)
}
