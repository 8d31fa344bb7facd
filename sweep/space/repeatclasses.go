package space

import (
	"fmt"
	"math/big"
	"slices"

	"mlframework/sweep/space/grid"
)

// repeated is a space with parameters that only repeat, seen as combinations with repeats. A
// combination is what points have in common that differ only in these parameters. It depends on no
// value of them, so that a sample of combinations draws the same ones of a file with more repeats.
type repeated struct {
	whole        *Space
	combinations *Space // of which each point is one: whole with one value of what repeats
	axes         []repeatedAxis
}

// repeatedAxis is an axis of a space that has parameters which only repeat.
type repeatedAxis struct {
	axis    int
	count   int64     // of digits, all of which are repeats of one combination
	members [][]int64 // instead, by digit of the combinations: those that are repeats of it
}

// repeated sees a space as combinations with repeats. The error is a *ruleError: points of which a
// condition has what repeats decide what else is there are not repeats of one combination.
func (s *Space) repeated() (*repeated, error) {
	repeats := make([]bool, len(s.plan.parameters))
	for _, p := range s.plan.repeats {
		repeats[p] = true
	}
	if err := s.repeatable(repeats); err != nil {
		return nil, err
	}
	r := &repeated{whole: s, combinations: &Space{axes: slices.Clone(s.axes),
		parameters: s.parameters, terms: s.terms}}
	classes := map[int]grid.Classes{}
	for i := range s.axes {
		if of := r.merge(i, repeats); of != nil {
			classes[i] = *of
		}
	}
	c := r.combinations
	c.grid = *s.grid.Merge(classes)
	for i := range s.conditions {
		if !repeats[s.conditions[i].parameter] {
			c.conditions = append(c.conditions, s.conditions[i])
		}
	}
	c.plan = plan{parameters: s.plan.parameters}
	for _, point := range s.plan.included {
		c.plan.included = append(c.plan.included, r.without(point, repeats))
	}
	slices.SortFunc(c.plan.included, slices.Compare)
	c.plan.included = slices.CompactFunc(c.plan.included, slices.Equal)
	_, err := c.complete()
	return r, err
}

// repeatable refuses conditions by which a combination is not the same with each of its repeats.
func (s *Space) repeatable(repeats []bool) error {
	repeating := func(p int) bool { return repeats[p] }
	for i := range s.conditions {
		c := &s.conditions[i]
		if repeats[c.parameter] {
			continue
		}
		name, why := s.plan.parameters[c.parameter].name, ""
		beside := s.axes[s.parameters[c.parameter].axis].parameters
		if at := slices.IndexFunc(c.looks, repeating); at >= 0 {
			why = "depends on " + show(s.plan.parameters[c.looks[at]].name)
		} else if at := slices.IndexFunc(beside, repeating); at >= 0 {
			why = "has a condition and stands in one list of points with " +
				show(s.plan.parameters[beside[at]].name)
		} else {
			continue
		}
		return &ruleError{rule: c.rule, problem: fmt.Sprintf("sample: %s %s, which only repeats: "+
			"which points repeat one combination is not clear", show(name), why),
			remedy: "leave out sample, repeat or the condition"}
	}
	return nil
}

// merge makes one digit of those digits of an axis that are repeats of one combination. It returns
// nil for an axis of which no parameter repeats.
func (r *repeated) merge(axis int, repeats []bool) *grid.Classes {
	a := &r.combinations.axes[axis]
	if !slices.ContainsFunc(a.parameters, func(p int) bool { return repeats[p] }) {
		return nil
	}
	if len(a.parameters) == 1 {
		r.axes = append(r.axes, repeatedAxis{axis: axis, count: a.count})
		if a.count = 1; a.rows != nil {
			a.rows = [][]int64{{absent}}
		}
		return &grid.Classes{Count: 1}
	}
	of := repeatedAxis{axis: axis}
	classes, known, rows := make([]int64, a.count), map[string]int64{}, [][]int64(nil)
	for digit, row := range a.rows {
		row = slices.Clone(row)
		for column, p := range a.parameters {
			if repeats[p] {
				row[column] = absent
			}
		}
		key := fmt.Sprint(row)
		class, is := known[key]
		if !is {
			class = int64(len(rows))
			known[key], rows, of.members = class, append(rows, row), append(of.members, nil)
		}
		classes[digit], of.members[class] = class, append(of.members[class], int64(digit))
	}
	r.axes = append(r.axes, of)
	a.rows, a.count = rows, int64(len(rows))
	return &grid.Classes{Count: a.count, Of: classes}
}

// without returns the combination of an included point.
func (r *repeated) without(point []int64, repeats []bool) []int64 {
	point = slices.Clone(point)
	for p := range point {
		if repeats[p] {
			at := r.whole.parameters[p]
			point[p] = r.combinations.axes[at.axis].number(0, at.column)
		}
	}
	return point
}

// most returns the largest number of repeats that a combination may have before the rules.
func (r *repeated) most() *big.Int {
	n := big.NewInt(1)
	for _, a := range r.axes {
		count := a.count
		for _, members := range a.members {
			count = max(count, int64(len(members)))
		}
		n.Mul(n, big.NewInt(count))
	}
	return n
}

// all lists the points that are repeats of some combinations, as numbers behind the included
// points, in order, and tells how many points the combinations have that have the least and the
// most. Combinations are given by their numbers in the grid of combinations.
func (r *repeated) all(combinations []int64) (points []int64, least, most int64) {
	digits := make([]int64, len(r.whole.axes))
	for i, n := range combinations {
		r.combinations.grid.Digits(n, digits)
		before := len(points)
		points = r.append(points, digits, r.axes)
		repeats := int64(len(points) - before)
		if most = max(most, repeats); i == 0 || repeats < least {
			least = repeats
		}
	}
	slices.Sort(points)
	return points, least, most
}

// append appends the points that have some digits, but for those of axes, which are a
// combination's.
func (r *repeated) append(points, digits []int64, axes []repeatedAxis) []int64 {
	if len(axes) == 0 {
		if n, ok := r.whole.grid.Number(digits); ok {
			skipped, doubled := slices.BinarySearch(r.whole.doubled, n)
			if !doubled {
				points = append(points, n-int64(skipped))
			}
		}
		return points
	}
	a := axes[0]
	of := digits[a.axis]
	defer func() { digits[a.axis] = of }()
	if a.members != nil {
		for _, digit := range a.members[of] {
			digits[a.axis] = digit
			points = r.append(points, digits, axes[1:])
		}
		return points
	}
	for digit := range a.count {
		digits[a.axis] = digit
		points = r.append(points, digits, axes[1:])
	}
	return points
}
