package core

import (
	"math"

	"mlframework/sweep/task"
)

// gpuUnits is a whole GPU in Resources: a number of which every share, from 1/2 to 1/16, is a whole
// part, so that three thirds are one.
const gpuUnits = 720720

// Resources are what a task needs while it runs, or what a worker has for tasks. The zero value is
// none.
type Resources struct {
	Slots int // attempts at a time
	// in gpuUnits. Of a worker it is a sum, and an upper bound: which devices a task can have, and
	// that whole ones are free, a gpuRoom knows
	GPUs int
}

// resourcesOf returns what a worker has for attempts, as it says. Slots in which processes of
// attempts that have ended are being ended are not among them.
func resourcesOf(h *task.Heartbeat) Resources {
	return Resources{Slots: h.Slots, GPUs: availableUnits(h)}.Take(Resources{Slots: h.Ending})
}

// recipeNeeds returns what each task of a recipe needs.
func recipeNeeds(r *task.Recipe) Resources {
	return Resources{Slots: 1, GPUs: int(math.Round(r.GPUs.Count * gpuUnits))}
}

// needsOf returns what each task of a sweep needs: a slot, if the core does not have the sweep.
func (c *Core) needsOf(sweep string) Resources {
	if a := c.sweeps[sweep]; a != nil {
		return a.ledger.needs
	}
	return Resources{Slots: 1}
}

// Times returns what n tasks with these needs take.
func (r Resources) Times(n int) Resources { return Resources{r.Slots * n, r.GPUs * n} }

// Count returns how many tasks with the same needs fit beside each other.
func (r Resources) Count(needs Resources) int {
	n := max(0, r.Slots) / max(1, needs.Slots)
	if needs.GPUs > 0 {
		n = min(n, max(0, r.GPUs)/needs.GPUs)
	}
	return n
}

// Fits reports whether a task fits.
func (r Resources) Fits(needs Resources) bool { return r.Count(needs) > 0 }

// Take returns what is left when something is taken. It is never negative: a worker may have more
// tasks than its slots.
func (r Resources) Take(taken Resources) Resources {
	return Resources{max(0, r.Slots-taken.Slots), max(0, r.GPUs-taken.GPUs)}
}

// Release returns what there is when something is released.
func (r Resources) Release(released Resources) Resources {
	return Resources{r.Slots + released.Slots, r.GPUs + released.GPUs}
}
