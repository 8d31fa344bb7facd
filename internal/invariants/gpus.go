package invariants

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"mlframework/sweep/store"
)

// tolerance is how far sums of shares may be off: three thirds are one.
const tolerance = 1e-9

// gpus checks the GPUs that attempts began with: each has as many as it needs, and no more than all
// of a GPU is had at a time. An attempt whose end is not known has ended when another begins.
func (c *checker) gpus(sweeps []store.Sweep) {
	needs := map[string]float64{}
	for _, s := range sweeps {
		needs[s.Head.ID] = s.Record.Recipe.GPUs.Count
		if s.Record.Recipe.GPUs.All {
			needs[s.Head.ID] = math.Inf(1)
		}
	}
	on := map[string][]Start{}
	for _, s := range c.e.Starts {
		need := needs[s.Task.Sweep]
		if s.GPUs != nil && !math.IsInf(need, 1) && len(s.GPUs) != int(math.Ceil(need)) {
			c.report(8, s.Task.String(), "began attempt %d on %s with GPUs %v, and needs %v",
				s.Attempt, s.Worker, s.GPUs, need)
		}
		for _, uuid := range s.GPUs {
			on[uuid] = append(on[uuid], s)
		}
	}
	for _, uuid := range slices.Sorted(maps.Keys(on)) {
		c.overlaps(uuid, on[uuid], needs)
	}
}

// overlaps checks the attempts that had something of a GPU.
func (c *checker) overlaps(uuid string, starts []Start, needs map[string]float64) {
	slices.SortStableFunc(starts, func(a, b Start) int { return a.Time.Compare(b.Time) })
	var had []Start
	for _, s := range starts {
		had = slices.DeleteFunc(had, func(h Start) bool { return !h.Ended.After(s.Time) })
		had = append(had, s)
		sum := 0.0
		for _, h := range had {
			sum += cmp.Or(h.Share, min(1, needs[h.Task.Sweep]))
		}
		if sum > 1+tolerance {
			first := slices.MinFunc(had, func(a, b Start) int {
				return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Attempt, b.Attempt))
			})
			c.report(8, uuid, "is had %.3g times when attempt %d of %v begins on it: "+
				"attempt %d of %v has not ended", sum, s.Attempt, s.Task, first.Attempt, first.Task)
		}
	}
}
