package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// What is taken and released is what is there less or more, and never less than nothing.
func TestResources(t *testing.T) {
	t.Parallel()
	slots := func(n int) core.Resources { return core.Resources{Slots: n} }
	gpus := func(slots, thirds int) core.Resources {
		return core.Resources{Slots: slots, GPUs: thirds * core.GPUUnits / 3}
	}
	for _, c := range []struct {
		name              string
		have, needs       core.Resources
		fits              int
		taken, released   core.Resources
		takenTwice, twice core.Resources
	}{
		{"more than enough", slots(5), slots(2), 2, slots(3), slots(7), slots(1), slots(4)},
		{"just enough", slots(1), slots(1), 1, slots(0), slots(2), slots(0), slots(2)},
		{"too little", slots(1), slots(2), 0, slots(0), slots(3), slots(0), slots(4)},
		{"nothing", slots(0), slots(1), 0, slots(0), slots(1), slots(0), slots(2)},
		{"GPUs", gpus(8, 6), gpus(1, 3), 2, gpus(7, 3), gpus(9, 9), gpus(6, 0), gpus(2, 6)},
		{"thirds of GPUs", gpus(8, 3), gpus(1, 1), 3, gpus(7, 2), gpus(9, 4), gpus(6, 1),
			gpus(2, 2)},
		{"fewer slots than GPUs", gpus(1, 9), gpus(1, 3), 1, gpus(0, 6), gpus(2, 12), gpus(0, 3),
			gpus(2, 6)},
		{"no GPU", slots(8), gpus(1, 3), 0, slots(7), gpus(9, 3), slots(6), gpus(2, 6)},
		{"GPUs that are not needed", gpus(2, 6), slots(1), 2, gpus(1, 6), gpus(3, 6), gpus(0, 6),
			slots(2)},
	} {
		if got := c.have.Count(c.needs); got != c.fits {
			t.Errorf("%s: %d fit; want %d", c.name, got, c.fits)
		}
		if got := c.have.Fits(c.needs); got != (c.fits > 0) {
			t.Errorf("%s: fits: %t", c.name, got)
		}
		if got := c.have.Take(c.needs); got != c.taken {
			t.Errorf("%s: %+v is left; want %+v", c.name, got, c.taken)
		}
		if got := c.have.Release(c.needs); got != c.released {
			t.Errorf("%s: with what is released %+v; want %+v", c.name, got, c.released)
		}
		if got := c.have.Take(c.needs).Take(c.needs); got != c.takenTwice {
			t.Errorf("%s: %+v is left of it twice; want %+v", c.name, got, c.takenTwice)
		}
		if got := c.needs.Times(2); got != c.twice {
			t.Errorf("%s: two take %+v; want %+v", c.name, got, c.twice)
		}
	}
}

// TestGPUUnits: every share of a GPU, and every whole number of them, is a whole number of units.
func TestGPUUnits(t *testing.T) {
	t.Parallel()
	for n := 1; n <= task.MaxShares; n++ {
		c, _ := core.Load(core.Options{}, []core.Loaded{{Head: core.Head{ID: "train-1"},
			Record: core.Record{Space: new(space.Space),
				Recipe: task.Recipe{GPUs: task.GPUs{Count: 1 / float64(n)}}}}}, nil, at(0))
		if needs := c.Needs("train-1"); needs.Slots != 1 || needs.Times(n).GPUs != core.GPUUnits {
			t.Errorf("%d times 1/%d of a GPU are %+v", n, n, needs.Times(n))
		}
	}
}
