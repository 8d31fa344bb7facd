package core

import "time"

// gpuFilling is how far the GPUs of a worker have been filled.
type gpuFilling struct {
	room   gpuRoom // once it was looked at
	looked bool
	slots  int     // of tasks that need GPUs
	used   float64 // part of the prefetch of its GPUs
	// kept says that a sweep found no GPU and keeps its turn, or that the worker gathers GPUs for
	// one: others get what can start at once, so that what waits here for GPUs becomes less, and
	// its turn comes
	kept bool
}

// fits reports whether a sweep that needs GPUs has a task for the worker that finds some.
func (g *gpuFilling) fits(f *filling, a *activeSweep) bool {
	if f.fit(a) == 0 || !a.ledger.Has(f.c.offerOf(f.offer, a, 1), f.c.now) {
		return false
	}
	if g.more(f, a) > 0 {
		return true
	}
	g.kept = true
	if a.keptSince.IsZero() {
		a.keptSince = f.c.now
	}
	return false
}

// more returns how many more tasks of a sweep the worker may get, by its GPUs. What may be long
// does not wait for GPUs on a worker, even if there is no other: those of another sweep would wait
// behind it.
func (g *gpuFilling) more(f *filling, a *activeSweep) int {
	if !g.looked {
		g.room, g.looked = f.w.gpuRoom(), true
	}
	if fit := f.fit(a); !f.onlyFree && !g.kept {
		if target := prefetchTarget(fit, a.mean, true); target > fit {
			return remaining(target, g.used)
		}
	}
	return g.room.count(f.w, a)
}

// count counts tasks that the worker has, or is given.
func (g *gpuFilling) count(f *filling, a *activeSweep, tasks int) {
	g.slots += tasks * a.ledger.needs.Slots
	if fit := f.fit(a); fit > 0 {
		g.used += float64(tasks) / float64(prefetchTarget(fit, a.mean, true))
	}
	if !g.looked {
		return
	}
	a.keptSince = time.Time{}
	for range tasks {
		g.room.take(f.w, a)
	}
}

// next returns the sweep whose turn it is, after those that keep theirs. As long as tasks that need
// GPUs have less than half of the slots, their sweeps go first: otherwise long tasks that need none
// would have all slots in the end, and GPUs nothing to do. With the other half it is the turn that
// counts.
func (g *gpuFilling) next(f *filling, r *priorityLevel, kept int) *activeSweep {
	e := r.sweeps.Front()
	for range kept {
		e = e.Next()
	}
	turn := e.Value.(*activeSweep)
	if len(f.w.gpus.devices) == 0 || 2*(g.slots+1) > f.w.capacity.Slots {
		return turn
	}
	for ; e != nil; e = e.Next() {
		if a := e.Value.(*activeSweep); a.ledger.needs.GPUs > 0 && g.fits(f, a) {
			return a
		}
	}
	return turn
}
