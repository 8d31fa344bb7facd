package core_test

import (
	"testing"

	"mlframework/sweep/core"
)

// What is taken and released is what is there less or more, and never less than nothing.
func TestResources(t *testing.T) {
	t.Parallel()
	slots := func(n int) core.Resources { return core.Resources{Slots: n} }
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
