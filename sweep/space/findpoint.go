package space

import (
	"slices"
	"strings"
	"sync"

	"mlframework/sweep/expr"
)

// finder finds points by what their values are compared by: a key of each, "" for a parameter that
// is not there. It may be used concurrently.
type finder struct {
	space    *Space
	key      func(value) string
	names    map[string]int
	axes     [][]digitIndex
	included map[string][]int64
}

// digitIndex finds the digits of an axis by the keys of those of its parameters that are there: one
// for each choice of them that conditions leave. Of the digits that are one combination where the
// other parameters are not there, only the first counts.
type digitIndex struct {
	axis    *axis
	there   []int     // columns
	missing []int     // the other columns
	span    *interval // of the first column there that is an interval: its values tell the digits
	column  int       // of span
	digits  map[string][]int64
}

// lazily makes a finder when it is first needed.
func lazily(s *Space, key func(value) string) func() *finder {
	return sync.OnceValue(func() *finder { return newFinder(s, key) })
}

// newFinder returns a finder. It looks at every value of an axis once for each choice of its
// parameters that are there together, but for intervals.
func newFinder(s *Space, key func(value) string) *finder {
	f := &finder{space: s, key: key, names: map[string]int{}, included: map[string][]int64{}}
	for p := range s.plan.parameters {
		f.names[s.plan.parameters[p].name] = p
	}
	for i := range s.axes {
		a := &s.axes[i]
		indexes := []digitIndex{f.index(a, slices.Repeat([]byte{'1'}, len(a.parameters)))}
		for _, mask := range a.masks {
			indexes = append(indexes, f.index(a, []byte(mask)))
		}
		f.axes = append(f.axes, indexes)
	}
	for i, row := range s.plan.included {
		key := strings.Join(f.keys(row), "\x00")
		f.included[key] = append(f.included[key], int64(i))
	}
	return f
}

// index returns the digits of an axis where the parameters of a mask are there.
func (f *finder) index(a *axis, mask []byte) digitIndex {
	x := digitIndex{axis: a}
	for column, p := range a.parameters {
		if mask[column] != '1' {
			x.missing = append(x.missing, column)
			continue
		}
		x.there = append(x.there, column)
		if span := f.space.plan.parameters[p].span; span != nil && x.span == nil {
			x.span, x.column = span, column
		}
	}
	if x.span != nil {
		return x
	}
	x.digits = map[string][]int64{}
	if len(x.there) == 0 {
		x.digits[""] = []int64{0}
		return x
	}
	var first []int64
	if len(x.missing) > 0 {
		first = f.space.firstOfEqual(a, mask)
	}
	key := make([]string, len(x.there))
	for digit := range a.count {
		if first != nil && first[digit] != digit {
			continue
		}
		for i, column := range x.there {
			key[i] = f.of(a, digit, column)
		}
		joined := strings.Join(key, "\x00")
		x.digits[joined] = append(x.digits[joined], digit)
	}
	return x
}

// of returns the key that a digit gives to a parameter.
func (f *finder) of(a *axis, digit int64, column int) string {
	return f.keyOf(a.parameters[column], a.number(digit, column))
}

func (f *finder) keyOf(p int, number int64) string {
	if number == absent {
		return ""
	}
	return f.key(f.space.plan.parameters[p].value(number))
}

func (f *finder) keys(numbers []int64) []string {
	keys := make([]string, len(numbers))
	for p, n := range numbers {
		keys[p] = f.keyOf(p, n)
	}
	return keys
}

// candidates appends the digits that may have the keys of all parameters.
func (x *digitIndex) candidates(dst []int64, f *finder, keys []string) []int64 {
	for _, column := range x.missing {
		if keys[x.axis.parameters[column]] != "" {
			return dst
		}
	}
	if x.span == nil {
		if len(x.there) == 1 {
			return append(dst, x.digits[keys[x.axis.parameters[x.there[0]]]]...)
		}
		var key []string
		for _, column := range x.there {
			key = append(key, keys[x.axis.parameters[column]])
		}
		return append(dst, x.digits[strings.Join(key, "\x00")]...)
	}
	digit, ok := x.span.index(strings.TrimPrefix(keys[x.axis.parameters[x.column]], "="))
	if !ok {
		return dst
	}
	for _, column := range x.there {
		if f.of(x.axis, digit, column) != keys[x.axis.parameters[column]] {
			return dst
		}
	}
	return append(dst, digit)
}

// maxTried is how many combinations one search tries, of all its points together: more than one of
// a point where several look alike, as a switch that is off and none.
const maxTried = 20_000_000

// search finds points one after the other.
type search struct {
	*finder
	tried      int // combinations
	candidates [][]int64
	chosen     []int
	digits     []int64
	numbers    []int64
	get        func(int) expr.Value
}

func (f *finder) search() *search {
	q := &search{finder: f, candidates: make([][]int64, len(f.axes)),
		chosen: make([]int, len(f.axes)), digits: make([]int64, len(f.axes)),
		numbers: make([]int64, len(f.space.plan.parameters))}
	q.get = f.space.valuesOf(q.numbers)
	return q
}

// find returns the first point with the keys of p. It is false, too, where too many combinations
// were tried, which exhausted tells.
func (q *search) find(p Point) (int64, bool) {
	keys := make([]string, len(q.numbers))
	for _, a := range p {
		key := q.key(a.of())
		if i, ok := q.names[a.Name]; ok {
			keys[i] = key
		} else if key != "" {
			return 0, false
		}
	}
	if len(q.included) > 0 {
		for _, i := range q.included[strings.Join(keys, "\x00")] {
			if at, is := q.space.position(i); is {
				return at, true
			}
		}
	}
	at := int64(0)
	_, ok := q.number(keys, func(n int64) (is bool) {
		skipped, doubled := slices.BinarySearch(q.space.doubled, n)
		if doubled {
			return false
		}
		at, is = q.space.position(int64(len(q.space.plan.included)) + n - int64(skipped))
		return is
	})
	return at, ok
}

func (q *search) exhausted() bool { return q.tried > maxTried }

// number returns the first number in the grid of a combination with some keys, of those that are
// wanted.
func (q *search) number(keys []string, wanted func(int64) bool) (int64, bool) {
	for i := range q.axes {
		some := q.candidates[i][:0]
		for k := range q.axes[i] {
			some = q.axes[i][k].candidates(some, q.finder, keys)
		}
		if len(some) == 0 {
			return 0, false
		}
		if len(q.axes[i]) > 1 {
			slices.Sort(some)
			some = slices.Compact(some)
		}
		q.candidates[i], q.chosen[i] = some, 0
	}
	for ; !q.exhausted(); q.tried++ {
		for i, k := range q.chosen {
			q.digits[i] = q.candidates[i][k]
		}
		if n, ok := q.space.grid.Number(q.digits); ok {
			q.space.decode(q.digits, q.numbers, q.get)
			if q.hasKeys(keys) && wanted(n) {
				return n, true
			}
		}
		if !q.next() {
			break
		}
	}
	return 0, false
}

// next chooses the next candidates, those of the last axis first.
func (q *search) next() bool {
	for j := len(q.chosen) - 1; j >= 0; j-- {
		if q.chosen[j]++; q.chosen[j] < len(q.candidates[j]) {
			return true
		}
		q.chosen[j] = 0
	}
	return false
}

// hasKeys reports whether the parameters that have a condition have their keys; the digits were
// chosen by those of the others.
func (q *search) hasKeys(keys []string) bool {
	for i := range q.space.conditions {
		p := q.space.conditions[i].parameter
		if q.keyOf(p, q.numbers[p]) != keys[p] {
			return false
		}
	}
	return true
}
