package core

// reserving is how far a worker's host has been given to tasks that reserve what they need.
type reserving struct {
	room   room // once it was looked at
	looked bool
	slots  int // of the worker, that such tasks have
}

// fits reports whether a sweep whose tasks reserve something has one for the worker that finds it.
func (g *reserving) fits(f *filling, a *activeSweep) bool {
	free := g.more(f, a) > 0
	if !free && !a.keptSince.IsZero() || f.never(a) ||
		!a.ledger.Has(f.c.offerOf(f.offer, a, 1), f.c.now) {
		return false
	}
	if !free {
		a.keptSince = f.c.now
	}
	return free
}

// look returns the room of the worker.
func (g *reserving) look(f *filling) *room {
	if !g.looked {
		g.room, g.looked = f.w.room(), true
	}
	return &g.room
}

// more returns how many more tasks of a sweep the worker may get: what can start at once. None
// waits on the worker, so that those of other sweeps have their turn.
func (g *reserving) more(f *filling, a *activeSweep) int {
	n := &a.ledger.needs
	if f.w.noRoomFor&n.kind != 0 {
		return 0
	}
	fit := min(fits(f.free, f.w.slotsFor(n)), maxAssigned-f.tasks)
	if fit > 0 {
		fit = min(fit, g.look(f).count(n))
	}
	if fit <= 0 {
		f.w.setNoRoom(n)
	}
	return max(0, fit)
}

// next returns the sweep whose turn it is, after those that keep theirs. As long as tasks that
// reserve something have less than half of the slots, their sweeps go first: otherwise long tasks
// that need none would have all slots in the end, and GPUs nothing to do. With the other half it is
// the turn that counts.
func (g *reserving) next(f *filling, r *priorityLevel, kept int) *activeSweep {
	e := r.sweeps.Front()
	for range kept {
		e = e.Next()
	}
	turn := e.Value.(*activeSweep)
	if len(f.w.gpus.devices) == 0 {
		return turn
	}
	for ; e != nil; e = e.Next() {
		a := e.Value.(*activeSweep)
		n := &a.ledger.needs
		slots := f.w.slotsFor(n)
		first := n.devices > 0 && (slots == 0 || 2*(g.slots+slots) <= f.w.slots)
		if first && g.fits(f, a) {
			return a
		}
	}
	return turn
}
