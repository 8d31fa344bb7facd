package result

import (
	"encoding/json"
	"math"
	"strconv"
)

// Take says which value of a metric is final. "" is Last, chosen by nobody.
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

// Point is a value and its step: the one printed with it, else its number among the values, from 1.
type Point struct {
	Value float64
	Step  int64
}

// Span is what is known of a metric of several values beside the final one.
type Span struct {
	Step      int64  // of the final value
	Low, High *Point // the least and the greatest, where they differ and nobody chose what to take
}

// Values is what is remembered of all values of a metric. The zero value is of none.
type Values struct {
	Count                  int64
	stepped                bool // a step was printed
	first, last, low, high Point
}

// Add takes the next value. What is not a number is the last value where it comes last, and otherwise counts only where there is
// no number.
func (v *Values) Add(value float64, step *int64) {
	v.Count++
	p := Point{value, v.Count}
	if step != nil {
		p.Step, v.stepped = *step, true
	}
	v.join(p, p, p, p, v.Count == 1)
}

// Join takes the values of another after its own.
func (v *Values) Join(other Values) {
	if other.Count == 0 {
		return
	}
	if !other.stepped {
		for _, p := range []*Point{&other.first, &other.last, &other.low, &other.high} {
			p.Step += v.Count
		}
	}
	v.join(other.first, other.last, other.low, other.high, v.Count == 0)
	v.Count, v.stepped = v.Count+other.Count, v.stepped || other.stepped
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

// Final is the value of a metric that counts.
func (v *Values) Final(name string, take Take) Metric {
	p := v.last
	switch take {
	case Max:
		p = v.high
	case Min:
		p = v.low
	case First:
		p = v.first
	}
	m := Metric{Name: name, Value: p.Value}
	if v.Count < 2 && !v.stepped {
		return m
	}
	m.Span = &Span{Step: p.Step}
	if take == "" && v.low.Value != v.high.Value && !math.IsNaN(v.low.Value) {
		low, high := v.low, v.high
		m.Span.Low, m.Span.High = &low, &high
	}
	return m
}

// Spans are the metrics of a Final that have one, in JSON {"acc": [STEP]} or {"acc": [STEP, LOW, STEP, HIGH, STEP]}.
type Spans []Metric

// Spans returns the metrics that have a span; nil when there are none.
func (f Final) Spans() (all Spans) {
	for _, m := range f {
		if m.Span != nil {
			all = append(all, m)
		}
	}
	return all
}

// Spanned returns f with the spans that stood beside it.
func (f Final) Spanned(all Spans) Final {
	all.restore(f)
	return f
}

func (all Spans) restore(f Final) {
	for i, m := range all {
		if i < len(f) && f[i].Name == m.Name { // most have one
			f[i].Span = m.Span
			continue
		}
		for k := range f {
			if f[k].Name == m.Name {
				f[k].Span = m.Span
			}
		}
	}
}

// MarshalJSON writes the object.
func (all Spans) MarshalJSON() ([]byte, error) { return all.appendJSON(nil), nil }

func (all Spans) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(appendQuoted(b, m.Name), ':', '['), m.Span.Step, 10)
		if m.Span.Low != nil && m.Span.High != nil {
			b = m.Span.High.append(m.Span.Low.append(b))
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (p *Point) append(b []byte) []byte {
	b = appendStored(append(b, ','), p.Value)
	return strconv.AppendInt(append(b, ','), p.Step, 10)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (all *Spans) UnmarshalJSON(data []byte) error {
	*all = nil
	r := jsonReader{text: string(data)}
	if r.spans(all) && r.at == len(data) {
		return nil
	}
	*all = nil
	return unmarshalObject(data, func(name string, numbers []json.Number) {
		if s := spanOf(numbers); s != nil {
			*all = append(*all, Metric{Name: name, Span: s})
		}
	})
}

func spanOf(numbers []json.Number) *Span {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, n...)
	}
	r := jsonReader{text: "[" + string(b) + "]"}
	var s Span
	if !r.span(&s) {
		return nil
	}
	return &s
}

func (r *jsonReader) spans(into *Spans) bool {
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		m := Metric{Span: &Span{}}
		if n > 0 && !r.take(',') || !r.word(&m.Name) || !r.take(':') || !r.span(m.Span) {
			return false
		}
		*into = append(*into, m)
	}
	return true
}

func (r *jsonReader) span(into *Span) bool {
	if !r.take('[') || !r.whole(&into.Step) {
		return false
	}
	if r.take(']') {
		return true
	}
	into.Low, into.High = &Point{}, &Point{}
	return r.point(into.Low) && r.point(into.High) && r.take(']')
}

func (r *jsonReader) point(into *Point) bool {
	return r.take(',') && r.anyNumber(&into.Value) && r.take(',') && r.whole(&into.Step)
}

// Stored is final values in one text, as [Final.AppendStored] writes them.
type Stored Final

// MarshalJSON writes the text.
func (s Stored) MarshalJSON() ([]byte, error) {
	return json.Marshal(string(Final(s).AppendStored(nil)))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stored) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	all, err := AppendFinal(nil, text)
	*s = Stored(all)
	return err
}

// Steps are the steps of final values, in JSON {"acc": 2}.
type Steps []Metric

// Steps returns the metrics of which the step is known; nil when there are none.
func (f Final) Steps() Steps { return Steps(f.Spans()) }

// MarshalJSON writes the object.
func (all Steps) MarshalJSON() ([]byte, error) { return all.appendJSON(nil), nil }

func (all Steps) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(appendQuoted(b, m.Name), ':'), m.Span.Step, 10)
	}
	return append(b, '}')
}

// UnmarshalJSON reads what MarshalJSON writes.
func (all *Steps) UnmarshalJSON(data []byte) error {
	*all = nil
	return unmarshalObject(data, func(name string, step int64) { *all = append(*all, Metric{Name: name, Span: &Span{Step: step}}) })
}

func (all Steps) restore(f Final) { Spans(all).restore(f) }

func (r *jsonReader) steps(into *Steps) bool {
	if !r.take('{') {
		return false
	}
	for n := 0; !r.take('}'); n++ {
		m := Metric{Span: &Span{}}
		if n > 0 && !r.take(',') || !r.word(&m.Name) || !r.take(':') || !r.whole(&m.Span.Step) {
			return false
		}
		*into = append(*into, m)
	}
	return true
}
