package space

import (
	"fmt"
	"math"
	"slices"
)

// plan is what a space is made of, as data: what a file says, and what is stored.
type plan struct {
	parameters []parameter
	listed     listed
	zipped     [][]int   // groups of parameters that vary together
	rules      []rule    // in the order of the file
	included   [][]int64 // points that come first: a value number of each parameter, or absent
	repeats    []int     // parameters over which results are summarised
	sample     *sample   // of the combinations; nil: all
	kept       []int64   // the points that are left of all, in order; nil: what sample says
	limit      int64     // only the first so many points; 0: all
}

// listed is an explicit list of points of some parameters.
type listed struct {
	parameters []int
	rows       [][]int64 // a value number of each of them, or absent
}

// overflow says with which parameter there are more combinations than an index counts.
type overflow struct{ parameter int }

func (overflow) Error() string { return tooMany }

// build numbers the points of a plan. Its errors are one of newSpace, an overflow, a tooManyTied, a
// tooManyDrawn, a circle or a *ruleError.
func build(p plan) (*Space, error) {
	s, err := newSpace(p)
	if err != nil {
		return nil, err
	}
	if _, err := s.apply(); err != nil {
		return nil, err
	}
	if _, err := s.complete(); err != nil {
		return nil, err
	}
	return s, nil
}

// newSpace returns the space of a plan before its rules are applied. The error is a parameter that
// is there twice.
func newSpace(p plan) (*Space, error) {
	names := make(map[string]bool, len(p.parameters))
	for i := range p.parameters {
		name := p.parameters[i].name
		if names[name] {
			return nil, fmt.Errorf("parameter %q: it is there twice", name)
		}
		names[name] = true
	}
	s := &Space{plan: p}
	s.makeAxes()
	return s, nil
}

// complete puts the included points before the combinations, and leaves of both what is sampled or
// kept. It tells which included points are combinations, too. The error is an overflow or one of
// draw.
func (s *Space) complete() (doubled []bool, err error) {
	doubled = make([]bool, len(s.plan.included))
	if len(doubled) > 0 {
		q := newFinder(s, value.identity).search()
		all := func(int64) bool { return true }
		for i, point := range s.plan.included {
			if n, ok := q.number(q.keys(point), all); ok {
				doubled[i], s.doubled = true, append(s.doubled, n)
			}
		}
		slices.Sort(s.doubled)
	}
	s.finder = lazily(s, value.identity)
	left := s.grid.Len() - int64(len(s.doubled))
	if left > math.MaxInt64-int64(len(s.plan.included)) {
		return nil, overflow{len(s.plan.parameters) - 1}
	}
	if s.plan.kept != nil {
		s.only = s.plan.kept
	} else if s.plan.sample != nil {
		err = s.draw()
	}
	return doubled, err
}

// makeAxes makes the axes, each where the first of its parameters stands.
func (s *Space) makeAxes() {
	group := make([][]int, len(s.plan.parameters)) // the parameters of each axis, by all of them
	for _, g := range append([][]int{s.plan.listed.parameters}, s.plan.zipped...) {
		for _, p := range g {
			group[p] = g
		}
	}
	s.parameters = make([]place, len(s.plan.parameters))
	made := make([]bool, len(s.plan.parameters))
	for p := range s.plan.parameters {
		if made[p] {
			continue
		}
		a := axis{parameters: group[p], count: s.plan.parameters[p].count()}
		if a.parameters == nil {
			a.parameters = []int{p}
		}
		if l := s.plan.listed; len(l.parameters) > 0 && a.parameters[0] == l.parameters[0] {
			a.rows, a.count = l.rows, int64(len(l.rows))
		}
		for column, other := range a.parameters {
			made[other], s.parameters[other] = true, place{len(s.axes), column}
		}
		s.axes = append(s.axes, a)
	}
}

// plain reports whether the space is all combinations of parameters that vary by themselves.
func (s *Space) plain() bool {
	p := &s.plan
	return len(p.listed.parameters)+len(p.zipped)+len(p.rules)+len(p.included) == 0 &&
		p.limit == 0 && p.kept == nil && p.sample == nil
}
