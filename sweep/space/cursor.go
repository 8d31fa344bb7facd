package space

import (
	"sort"

	"mlframework/sweep/expr"
	"mlframework/sweep/space/grid"
)

// cursor steps through points and tells which parameters changed, so that the next point costs what
// changed and not what there is.
type cursor struct {
	space   *Space
	point   int64
	numbers []int64 // of the values that the parameters have
	get     func(int) expr.Value

	grid *grid.Cursor // nil: the next point does not follow this one in the grid
	at   int64        // number in the grid
	skip int          // the first of the space's doubled numbers that is not before it
}

func (s *Space) cursor(point int64) *cursor {
	c := &cursor{space: s, point: point, numbers: make([]int64, len(s.plan.parameters))}
	c.get = s.valuesOf(c.numbers)
	c.jump()
	return c
}

// jump finds the cursor's point from its index.
func (c *cursor) jump() {
	s := c.space
	if s.numbers(c.point, c.numbers); s.only != nil {
		return
	}
	n, included := s.combination(c.point)
	if !included {
		c.grid, c.at = s.grid.Cursor(n), n
		c.skip = sort.Search(len(s.doubled), func(i int) bool { return s.doubled[i] >= n })
	}
}

// advance moves to the next point and returns the first parameter that may have changed. It must
// not be called at the last point.
func (c *cursor) advance() int {
	c.point++
	if c.grid == nil {
		c.jump()
		return 0
	}
	first := len(c.space.axes)
	for {
		first = min(first, c.grid.Advance())
		c.at++
		if c.skip == len(c.space.doubled) || c.space.doubled[c.skip] != c.at {
			break
		}
		c.skip++
	}
	c.space.decode(c.grid.Digits(), first, c.numbers, c.get)
	return c.space.axes[first].changes
}
