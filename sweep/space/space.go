package space

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// Space is every combination of a set of parameters, numbered from 0. It is immutable but for UnmarshalJSON; everything
// else may be called concurrently. The zero value has one point, without parameters.
type Space struct {
	parameters []parameter
}

// Assignment is one parameter with the value it has at a point. Value is the text that the file has.
type Assignment struct {
	Name, Value string
	Switch      bool // an unquoted boolean: a flag that is present or absent
	Quoted      bool // text that would be a number without its quotes
}

// Point is one combination, in file order. A space without parameters has the empty point.
type Point []Assignment

// newSpace numbers the combinations. When more exist than an int64 counts, the result is the index of the first
// parameter with which they do, and false.
func newSpace(parameters []parameter) (s *Space, overflow int, ok bool) {
	total := uint64(1)
	for i := range parameters {
		high, low := bits.Mul64(total, uint64(parameters[i].count()))
		if high != 0 || low > math.MaxInt64 {
			return nil, i, false
		}
		total = low
	}
	stride := int64(1)
	for i := len(parameters) - 1; i >= 0; i-- {
		parameters[i].stride = stride
		stride *= parameters[i].count()
	}
	return &Space{parameters: parameters}, 0, true
}

// Len is the number of points, at least 1.
func (s *Space) Len() int64 {
	if len(s.parameters) == 0 {
		return 1
	}
	return s.parameters[0].stride * s.parameters[0].count()
}

// Parameters describes the parameters in file order, without expanding them.
func (s *Space) Parameters() []Parameter {
	all := make([]Parameter, len(s.parameters))
	for i := range s.parameters {
		all[i] = Parameter{p: &s.parameters[i]}
	}
	return all
}

// Point returns point i as a slice of its own. Its cost is proportional to the number of parameters, whatever i is.
// It panics unless 0 <= i < Len, as indexing a slice does.
func (s *Space) Point(i int64) Point {
	s.mustHave(i)
	point := make(Point, len(s.parameters))
	for j := range s.parameters {
		point[j] = s.parameters[j].assignment(s.parameters[j].digit(i))
	}
	return point
}

// Points yields the points from, from+1, …, to-1 with their indices; what lies outside the space is left out. The Point
// is reused from one iteration to the next: copy it to keep it. Its strings stay good.
func (s *Space) Points(from, to int64) iter.Seq2[int64, Point] {
	return func(yield func(int64, Point) bool) {
		from, to := max(from, 0), min(to, s.Len())
		if from >= to {
			return
		}
		point, digits := s.Point(from), newOdometer(s.parameters, from)
		for i := from; yield(i, point); {
			if i++; i == to {
				return
			}
			for j := digits.advance(); j < len(point); j++ {
				point[j] = s.parameters[j].assignment(digits.index[j])
			}
		}
	}
}

func (s *Space) mustHave(i int64) {
	if i < 0 || i >= s.Len() {
		panic(fmt.Sprintf("space: point %d of %d", i, s.Len()))
	}
}
