package space

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Rule is one of the things that make the points of a space other than all combinations of its
// parameters.
type Rule struct {
	// Text is one line for people, as the rule stands in a file: "where: lr < 1", "zip: lr,
	// momentum".
	Text string
	// Removed is the number of combinations that where, exclude or when removed of those that the
	// rules before it had left; nil for other rules. What when removes is combinations that differ
	// from others only in a parameter that is not there.
	Removed *big.Int
	// Sampling tells what a sample has drawn; nil for other rules, and for a sample that has all
	// combinations.
	Sampling *Sampling
}

// Rules returns groups that vary together, rules, included points, the parameters that only repeat,
// the sample, and what is left of the points after that, each kind in the order of the file. A
// space usually has none.
func (s *Space) Rules() (all []Rule) {
	p := &s.plan
	add := func(text string) { all = append(all, Rule{Text: text}) }
	if n := len(p.listed.rows); n > 0 {
		add("points: " + plural(n, "point") + " of " +
			enumerate(p.namesOf(p.listed.parameters), "and"))
	}
	for _, group := range p.zipped {
		add("zip: " + strings.Join(p.namesOf(group), ", "))
	}
	for i := range p.rules {
		add(p.rules[i].describe(p.parameters))
		all[len(all)-1].Removed = new(big.Int).Set(s.removed[i])
	}
	if n := len(p.included); n > 0 {
		add("include: " + plural(n, "point"))
	}
	if len(p.repeats) > 0 {
		add("repeat: " + strings.Join(p.namesOf(p.repeats), ", "))
	}
	if p.sample != nil {
		add("sample: " + strconv.FormatInt(p.sample.Combinations, 10) + ", seed " +
			strconv.FormatInt(p.sample.Seed, 10))
		if drawn, ok := s.Sampled(); ok {
			all[len(all)-1].Sampling = &drawn
		}
	}
	if p.kept != nil {
		add("part: " + plural(len(p.kept), "point"))
	}
	if p.limit > 0 {
		add("limit: " + strconv.FormatInt(p.limit, 10))
	}
	return all
}

// Combinations returns the number of combinations of all values, before any rule.
func (s *Space) Combinations() *big.Int {
	if s.combinations == nil {
		return big.NewInt(1)
	}
	return new(big.Int).Set(s.combinations)
}

// Included returns the number of points that come first, whatever the rules say.
func (s *Space) Included() int64 { return int64(len(s.plan.included)) }

// Repeats returns the names of the parameters that only repeat, over which results are summarised:
// points that differ only in them are repeats of one combination.
func (s *Space) Repeats() []string { return s.plan.namesOf(s.plan.repeats) }

// Column is a parameter of a space, by which value of it each point has. It may be used
// concurrently.
type Column struct {
	space     *Space
	parameter int
	// every is the number of points between two digits of its axis where that is always the same; 0
	// elsewhere.
	every int64
}

// Column returns the column of a parameter, and whether the space has one of that name.
func (s *Space) Column(name string) (Column, bool) {
	p := slices.IndexFunc(s.plan.parameters, func(of parameter) bool { return of.name == name })
	if p < 0 {
		return Column{}, false
	}
	c := Column{space: s, parameter: p}
	if len(s.plan.rules) == 0 && len(s.plan.included) == 0 && s.only == nil {
		c.every = 1
		for _, a := range s.axes[s.parameters[p].axis+1:] {
			c.every *= a.count
		}
	}
	return c, true
}

// Len returns the number of values that the parameter has at any point, at least 1.
func (c Column) Len() int64 { return c.space.plan.parameters[c.parameter].total() }

// At returns the number of the value that a point has, or -1 where it lacks the parameter. It
// panics unless 0 <= point < Len of the space.
func (c Column) At(point int64) int64 {
	s := c.space
	if c.every > 0 {
		s.mustHave(point)
		at := s.parameters[c.parameter]
		a := &s.axes[at.axis]
		return a.number(point/c.every%a.count, at.column)
	}
	var space [few]int64
	return s.numbers(point, space[:])[c.parameter]
}

// Value returns value n of the parameter. It panics unless 0 <= n < Len.
func (c Column) Value(n int64) Assignment {
	return c.space.plan.parameters[c.parameter].assignment(n)
}

// Counted reports whether the file or the command line sets the number of repeats, so that
// RepeatName is not a parameter of the program. This is not stored with the space.
func (s *Space) Counted() bool { return s != nil && s.counted }
