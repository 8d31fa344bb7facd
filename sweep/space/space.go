package space

import (
	"fmt"
	"math/big"
	"slices"
	"sort"

	"mlframework/sweep/expr"
	"mlframework/sweep/space/grid"
)

// Space is every combination that a parameters file describes, numbered from 0. It is immutable but
// for UnmarshalJSON; everything else may be called concurrently. The zero value has one point,
// without parameters.
type Space struct {
	plan plan

	axes       []axis
	parameters []place        // where the values of each parameter come from
	conditions []condition    // in an order in which each looks at parameters of earlier ones
	terms      [][]expr.Value // of the parameters that rules look at
	grid       grid.Grid

	combinations *big.Int       // before the rules
	removed      []*big.Int     // by rule of the plan: how many of those that earlier rules left
	finder       func() *finder // by what values are; nil: of the zero Space
	doubled      []int64        // numbers of the grid that included points have, too, in order
	only         []int64        // the points that are left of those before, in order; nil: all
	sampling     Sampling       // of the plan's sample
	counted      bool           // see Counted
}

// absent is the value number of a parameter that a point does not have.
const absent = -1

// axis is a digit of the grid, which gives one or more parameters their values.
type axis struct {
	parameters []int
	count      int64
	rows       [][]int64 // value numbers by digit and parameter; nil: the digit is all of them

	// The choices of parameters that are there where others are not, '1' for each that is: with
	// them combinations differ that are one.
	masks []string
}

// place is where the value of a parameter comes from.
type place struct{ axis, column int }

// Assignment is one parameter with the value it has at a point. Value is the text that the file
// has.
type Assignment struct {
	Name  string    `json:"name"`
	Value string    `json:"value"`
	Kind  ValueKind `json:"kind,omitempty"`
}

// ValueKind is what a value is, beside its text. The zero value is a number where the text is one,
// and text otherwise.
type ValueKind string

// The kinds of values that their text does not tell.
const (
	// an unquoted boolean: a flag that is present or absent
	Switch ValueKind = "switch"
	Text   ValueKind = "text" // text that would be a number without its quotes
	Null   ValueKind = "null" // an unquoted null: no flag
	JSON   ValueKind = "json" // a list or a mapping, of which Value is the compact JSON
)

// Point is one combination, in file order, without the parameters that are absent there. A space
// without parameters has the empty point.
type Point []Assignment

// Len returns the number of points, at least 1.
func (s *Space) Len() int64 {
	n := s.described()
	if s.only != nil {
		n = int64(len(s.only))
	}
	if s.plan.limit > 0 {
		n = min(n, s.plan.limit)
	}
	return n
}

// described returns the number of points before a sample or a choice of them.
func (s *Space) described() int64 {
	return int64(len(s.plan.included)-len(s.doubled)) + s.grid.Len()
}

// Parameters describes the parameters in file order, without expanding them.
func (s *Space) Parameters() []Parameter {
	all := make([]Parameter, len(s.plan.parameters))
	for i := range s.plan.parameters {
		all[i] = Parameter{p: &s.plan.parameters[i], conditional: s.conditional(i)}
	}
	return all
}

// conditional reports whether points may lack a parameter.
func (s *Space) conditional(p int) bool {
	for i := range s.conditions {
		if s.conditions[i].parameter == p {
			return true
		}
	}
	for _, point := range s.plan.included {
		if point[p] == absent {
			return true
		}
	}
	column := slices.Index(s.plan.listed.parameters, p)
	return column >= 0 && slices.ContainsFunc(s.plan.listed.rows,
		func(row []int64) bool { return row[column] == absent })
}

// Point returns point i as a slice of its own. Its cost is proportional to the number of
// parameters, whatever i is. It panics unless 0 <= i < Len, as indexing a slice does.
func (s *Space) Point(i int64) Point {
	var space [few]int64
	numbers := s.numbers(i, space[:])
	return s.point(make(Point, 0, len(numbers)), numbers, 0)
}

// point appends the assignments of the parameters from j on.
func (s *Space) point(dst Point, numbers []int64, j int) Point {
	for ; j < len(numbers); j++ {
		if numbers[j] != absent {
			dst = append(dst, s.plan.parameters[j].assignment(numbers[j]))
		}
	}
	return dst
}

// few is the number of parameters up to which a point is found without an allocation.
const few = 32

// numbers finds which value each parameter has at point i, in space where that is large enough.
func (s *Space) numbers(i int64, space []int64) []int64 {
	s.mustHave(i)
	if len(space) < len(s.plan.parameters) {
		space = make([]int64, len(s.plan.parameters))
	}
	numbers := space[:len(s.plan.parameters)]
	n, included := s.combination(i)
	if included {
		copy(numbers, s.plan.included[n])
		return numbers
	}
	var few [few]int64
	digits := few[:]
	if len(s.axes) > len(digits) {
		digits = make([]int64, len(s.axes))
	}
	s.grid.Digits(n, digits[:len(s.axes)])
	var get func(int) expr.Value
	if len(s.conditions) > 0 {
		get = s.valuesOf(numbers)
	}
	s.decode(digits, numbers, get)
	return numbers
}

// combination returns the number that point i has in the grid, or among the included points.
func (s *Space) combination(i int64) (n int64, included bool) {
	if s.only != nil {
		i = s.only[i]
	}
	if i < int64(len(s.plan.included)) {
		return i, true
	}
	i -= int64(len(s.plan.included))
	return i + int64(sort.Search(len(s.doubled),
		func(j int) bool { return s.doubled[j]-int64(j) > i })), false
}

// decode writes the values that digits stand for.
func (s *Space) decode(digits, numbers []int64, get func(int) expr.Value) {
	for k := range s.axes {
		a := &s.axes[k]
		for column, p := range a.parameters {
			numbers[p] = a.number(digits[k], column)
		}
	}
	for i := range s.conditions {
		c := &s.conditions[i]
		at := s.parameters[c.parameter]
		numbers[c.parameter] = s.axes[at.axis].number(digits[at.axis], at.column)
		if holds, _ := c.holds(numbers, get); !holds { // no error: all were asked
			numbers[c.parameter] = absent
		}
	}
}

// number returns the value number that a digit gives to one of the axis's parameters.
func (a *axis) number(digit int64, column int) int64 {
	if a.rows != nil {
		return a.rows[digit][column]
	}
	return digit
}

// Index returns the number of the first point that equals one, assignment by assignment in whatever
// order; false: there is none. It is the inverse of Point. The first call looks at every value of
// the lists.
func (s *Space) Index(p Point) (int64, bool) {
	if s.finder == nil { // the zero Space
		return newFinder(s, value.identity).search().find(p)
	}
	return s.finder().search().find(p)
}

// position returns where a point stands among those that are left.
func (s *Space) position(i int64) (int64, bool) {
	if s.only != nil {
		at, is := slices.BinarySearch(s.only, i)
		if !is {
			return 0, false
		}
		i = int64(at)
	}
	return i, i < s.Len()
}

func (s *Space) mustHave(i int64) {
	if i < 0 || i >= s.Len() {
		panic(fmt.Sprintf("space: point %d of %d", i, s.Len()))
	}
}
