package metric

import (
	"math"
)

// Take says which value of a metric is final. "" is Last, as the default.
type Take string

// What can be taken.
const (
	Last  Take = "last"
	Max   Take = "max"
	Min   Take = "min"
	First Take = "first"
)

// Takes are all of them.
var Takes = []Take{Last, Max, Min, First}

func (t Take) known() bool { return t == "" || t == Last || t == Max || t == Min || t == First }

// Replaces reports whether a value that is read later takes the place of the final value.
func (t Take) Replaces(final, later float64) bool {
	switch {
	case t == Last || t == "":
		return later != final
	case math.IsNaN(final):
		return true
	case t == Max:
		return later > final
	case t == Min:
		return later < final
	}
	return false
}

// Values is what is remembered of all values of a metric. The zero value is of none.
type Values struct {
	Attempt                int // that added values come from
	Count                  int64
	first, last, low, high Point // Of is the number of values so far where no step was printed
}

// Add takes the next value. What is not a number is the last value where it comes last, and
// otherwise counts only where there is no number.
func (v *Values) Add(value float64, step *int64) {
	v.Count++
	p := Point{value, v.Count, v.Count, v.Attempt}
	if step != nil {
		p.Step, p.Of = *step, 0
	}
	v.join(p, p, p, p, v.Count == 1)
}

// Join takes the values of another after its own.
func (v *Values) Join(other Values) {
	if other.Count == 0 {
		return
	}
	for _, p := range []*Point{&other.first, &other.last, &other.low, &other.high} {
		if p.Of != 0 {
			p.Step += v.Count
		}
	}
	v.join(other.first, other.last, other.low, other.high, v.Count == 0)
	v.Count += other.Count
}

func (v *Values) join(first, last, low, high Point, begin bool) {
	v.last = last
	if begin || math.IsNaN(v.first.Value) {
		v.first = first
	}
	if begin || math.IsNaN(v.low.Value) || low.Value < v.low.Value {
		v.low = low
	}
	if begin || math.IsNaN(v.high.Value) || high.Value > v.high.Value {
		v.high = high
	}
}

// Final returns the value of a metric that counts. Newest is the newest attempt, even if it has no
// values; 0: not known.
func (v *Values) Final(name string, take Take, newest int) FinalValue {
	p := v.last
	switch take {
	case Max:
		p = v.high
	case Min:
		p = v.low
	case First:
		p = v.first
	}
	m := FinalValue{Name: name, Value: p.Value}
	attempt := 0
	if v.first.Attempt != v.last.Attempt || newest != 0 && v.last.Attempt != newest {
		attempt = p.Attempt
	}
	if v.Count < 2 && p.Of != 0 && attempt == 0 {
		return m
	}
	m.Span = &Span{Step: p.Step, Of: v.of(p), Attempt: attempt}
	if take == "" && v.low.Value != v.high.Value && !math.IsNaN(v.low.Value) {
		low, high := v.low, v.high
		low.Of, high.Of, low.Attempt, high.Attempt = v.of(low), v.of(high), 0, 0
		m.Span.Low, m.Span.High = &low, &high
	}
	return m
}

// of returns the Of of a point now.
func (v *Values) of(p Point) int64 {
	if p.Of == 0 {
		return 0
	}
	return v.Count
}
