package core

import "mlframework/sweep/task"

// Resources are what a task needs while it runs, or what a worker has for tasks. The zero value is
// none.
type Resources struct {
	Slots int // attempts at a time
}

// resourcesOf returns what a worker has for attempts, as it says. Slots in which processes of
// attempts that have ended are being ended are not among them.
func resourcesOf(h *task.Heartbeat) Resources {
	return Resources{Slots: h.Slots}.Take(Resources{Slots: h.Ending})
}

// needsOf returns what each task of a sweep needs: a slot, if the core does not have the sweep.
func (c *Core) needsOf(sweep string) Resources {
	if a := c.sweeps[sweep]; a != nil {
		return a.ledger.needs
	}
	return Resources{Slots: 1}
}

// Times returns what n tasks with these needs take.
func (r Resources) Times(n int) Resources { return Resources{Slots: r.Slots * n} }

// Count returns how many tasks with the same needs fit beside each other.
func (r Resources) Count(needs Resources) int { return max(0, r.Slots) / max(1, needs.Slots) }

// Fits reports whether a task fits.
func (r Resources) Fits(needs Resources) bool { return r.Count(needs) > 0 }

// Take returns what is left when something is taken. It is never negative: a worker may have more
// tasks than its slots.
func (r Resources) Take(taken Resources) Resources {
	return Resources{Slots: max(0, r.Slots-taken.Slots)}
}

// Release returns what there is when something is released.
func (r Resources) Release(released Resources) Resources {
	return Resources{Slots: r.Slots + released.Slots}
}
