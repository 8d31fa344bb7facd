package metric

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"mlframework/sweep/internal/rawjson"
)

// Point is a value and its step: the one printed with it, else its number among the values, from 1.
type Point struct {
	Value float64
	Step  int64
	Of    int64 // where its step was not printed, the number of values; else 0
	// that the value comes from; 0: not known
	Attempt int
}

// Span is what is known of a metric of several values beside the final one.
type Span struct {
	Step, Of  int64  // of the final value, as of a Point
	Low, High *Point // the least and the greatest, where they differ and no Take was chosen
	// Attempt is the attempt that the final value comes from, if several have values or only an
	// earlier one; else 0
	Attempt int
}

// String returns "step 20" or "value 2 of 3", with the attempt "value 2 of 3, attempt 1", or for a
// single value "attempt 1".
func (s *Span) String() string {
	text := Point{Step: s.Step, Of: s.Of}.String()
	switch {
	case s.Attempt == 0:
		return text
	case s.Of == 1:
		return s.AttemptText()
	}
	return text + ", " + s.AttemptText()
}

// AttemptText returns "attempt 1", "" if Attempt is 0.
func (s *Span) AttemptText() string {
	if s.Attempt == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d", s.Attempt)
}

// String returns where the value was: "step 20" or "value 2 of 3".
func (p Point) String() string {
	if p.Of == 0 {
		return fmt.Sprintf("step %d", p.Step)
	}
	return fmt.Sprintf("value %d of %d", p.Step, p.Of)
}

// Spans are the metrics of a Final that have one, in JSON {"acc": [STEP]} or {"acc": [STEP, LOW,
// STEP, HIGH, STEP]}. If one of the numbers OF is not 0 or there is an attempt, the numbers OF
// follow in the same order, and then the attempt.
type Spans []FinalValue

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
	f.joinByName(all, func(into, m *FinalValue) { into.Span = m.Span })
}

// MarshalJSON writes the object.
func (all Spans) MarshalJSON() ([]byte, error) { return all.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes.
func (all Spans) AppendJSON(b []byte) []byte {
	return appendObject(b, all, func(b []byte, m *FinalValue) []byte {
		b = strconv.AppendInt(append(b, '['), m.Span.Step, 10)
		if m.Span.Low != nil && m.Span.High != nil {
			b = m.Span.High.append(m.Span.Low.append(b))
		}
		return append(m.Span.appendOf(b), ']')
	})
}

func (s *Span) appendOf(b []byte) []byte {
	all := []int64{s.Of}
	if s.Low != nil && s.High != nil {
		all = append(all, s.Low.Of, s.High.Of)
	}
	if s.Attempt != 0 {
		all = append(all, int64(s.Attempt))
	}
	if slices.Max(all) == 0 {
		return b
	}
	for _, n := range all {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	return b
}

func (p *Point) append(b []byte) []byte {
	b = appendStored(append(b, ','), p.Value)
	return strconv.AppendInt(append(b, ','), p.Step, 10)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (all *Spans) UnmarshalJSON(data []byte) error {
	*all = nil
	if r := rawjson.NewReader(string(data)); all.ReadJSON(r) && r.Rest() == "" {
		return nil
	}
	*all = nil
	return rawjson.ReadObject(data, func(name string, numbers []json.Number) {
		if s := spanOf(numbers); s != nil {
			*all = append(*all, FinalValue{Name: name, Span: s})
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
	var s Span
	if !s.readJSON(rawjson.NewReader("[" + string(b) + "]")) {
		return nil
	}
	return &s
}

// ReadJSON reads what MarshalJSON writes; it returns false for anything else.
func (all *Spans) ReadJSON(r *rawjson.Reader) bool {
	return readObject(r, all, func(m *FinalValue) bool {
		m.Span = &Span{}
		return m.Span.readJSON(r)
	})
}

func (s *Span) readJSON(r *rawjson.Reader) bool {
	if !r.Take('[') || !r.Whole(&s.Step) {
		return false
	}
	if r.Take(']') {
		return true
	}
	var low, high Point
	if !r.Take(',') || !r.AnyNumber(&low.Value) {
		return false
	}
	if r.Take(']') {
		s.Of = int64(low.Value)
		return s.Of > 0
	}
	if !r.Take(',') || !r.Whole(&low.Step) {
		return false
	}
	if r.Take(']') {
		s.Of, s.Attempt = int64(low.Value), int(low.Step)
		return s.Of >= 0 && s.Attempt > 0
	}
	if !r.Take(',') || !r.AnyNumber(&high.Value) || !r.Take(',') || !r.Whole(&high.Step) {
		return false
	}
	s.Low, s.High = &low, &high
	if r.Take(']') {
		return true
	}
	if !r.Take(',') || !r.Whole(&s.Of) || !r.Take(',') || !r.Whole(&low.Of) || !r.Take(',') ||
		!r.Whole(&high.Of) {
		return false
	}
	if r.Take(']') {
		return true
	}
	var attempt int64
	ok := r.Take(',') && r.Whole(&attempt) && r.Take(']')
	s.Attempt = int(attempt)
	return ok
}

// Steps are the steps of final values, in JSON {"acc": 2}.
type Steps []FinalValue

// Steps returns the metrics of which a step was printed; nil when there are none.
func (f Final) Steps() (all Steps) {
	for _, m := range f {
		if m.Span != nil && m.Span.Of == 0 {
			all = append(all, m)
		}
	}
	return all
}

// Attempts returns the attempts that final values come from, for those metrics that have one; in
// JSON {"acc": 1}. It returns nil if there are none.
func (f Final) Attempts() (all Steps) {
	for _, m := range f {
		if m.Span != nil && m.Span.Attempt != 0 {
			all = append(all, FinalValue{Name: m.Name, Span: &Span{Step: int64(m.Span.Attempt)}})
		}
	}
	return all
}

// OfAttempts returns f with the attempts that were stored beside it. Call it after the steps and
// positions were restored.
func (f Final) OfAttempts(all Steps) Final {
	f.joinByName(all, func(into, m *FinalValue) {
		if into.Span != nil {
			into.Span.Attempt = int(m.Span.Step)
		}
	})
	return f
}

// Positions returns the metrics of several values without steps, with which of them is the final
// one: in JSON {"acc": [2, 3]}, the second of three. It is nil when there are none.
func (f Final) Positions() (all Spans) {
	for _, m := range f {
		if m.Span != nil && m.Span.Of != 0 {
			all = append(all, FinalValue{Name: m.Name, Span: &Span{Step: m.Span.Step,
				Of: m.Span.Of}})
		}
	}
	return all
}

// MarshalJSON writes the object.
func (all Steps) MarshalJSON() ([]byte, error) { return all.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes.
func (all Steps) AppendJSON(b []byte) []byte {
	return appendObject(b, all, func(b []byte, m *FinalValue) []byte {
		return strconv.AppendInt(b, m.Span.Step, 10)
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (all *Steps) UnmarshalJSON(data []byte) error {
	*all = nil
	return rawjson.ReadObject(data, func(name string, step int64) {
		*all = append(*all, FinalValue{Name: name, Span: &Span{Step: step}})
	})
}

// ReadJSON reads what MarshalJSON writes; it returns false for anything else.
func (all *Steps) ReadJSON(r *rawjson.Reader) bool {
	return readObject(r, all, func(m *FinalValue) bool {
		m.Span = &Span{}
		return r.Whole(&m.Span.Step)
	})
}
