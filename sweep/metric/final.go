package metric

import (
	"math"
	"slices"

	"mlframework/sweep/internal/rawjson"
)

// Metric is the final value of one metric. NaN: it was printed and was not a number. It may be
// infinite.
type FinalValue struct {
	Name  string
	Value float64
	Span  *Span // nil: it is the only value, or no more is known
}

// Final holds final values, in order of first appearance. In JSON it is an object in that order;
// what is not a number or infinite is null, and [Infinite] tells which.
type Final []FinalValue

// Get returns the value of a metric and whether it was printed at all.
func (f Final) Get(name string) (float64, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return 0, false
}

// JoinFiles returns the final values of a task: what its program printed and what it wrote to
// files. A metric whose rule names a file has values of files alone.
func JoinFiles(printed, files Final, rules []Rule) Final {
	printed = slices.DeleteFunc(slices.Clone(printed), func(m FinalValue) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool {
			return r.Name == m.Name && r.File != ""
		})
	})
	return append(printed, files...)
}

// joinByName calls set for each metric of f and what stands beside it under the same name. That is
// in the order of f as a rule; what is not takes no longer than in proportion to both, as it may
// come from anybody.
func (f Final) joinByName(all []FinalValue, set func(into, m *FinalValue)) {
	at := 0
	for i := range all {
		for at < len(f) && f[at].Name != all[i].Name {
			at++
		}
		if at == len(f) {
			f.joinUnordered(all[i:], set)
			return
		}
		set(&f[at], &all[i])
		at++
	}
}

func (f Final) joinUnordered(all []FinalValue, set func(into, m *FinalValue)) {
	byName := make(map[string]*FinalValue, len(all))
	for i := range all {
		byName[all[i].Name] = &all[i]
	}
	for i := range f {
		if m := byName[f[i].Name]; m != nil {
			set(&f[i], m)
		}
	}
}

// MarshalJSON writes an object, {} for none.
func (f Final) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes.
func (f Final) AppendJSON(b []byte) []byte { return f.append(b, rawjson.AppendNumber) }

func (f Final) append(b []byte, number func([]byte, float64) []byte) []byte {
	return appendObject(b, f, func(b []byte, m *FinalValue) []byte { return number(b, m.Value) })
}

// UnmarshalJSON reads an object of numbers and nulls, in its order.
func (f *Final) UnmarshalJSON(data []byte) error {
	*f = nil
	return rawjson.ReadObject(data, func(name string, v jsonValue) {
		*f = append(*f, FinalValue{Name: name, Value: float64(v)})
	})
}

// ReadJSON reads what MarshalJSON writes; it returns false for anything else.
func (f *Final) ReadJSON(r *rawjson.Reader) bool {
	return readObject(r, f, func(m *FinalValue) bool {
		m.Value = math.NaN()
		return r.Null() || r.AnyNumber(&m.Value)
	})
}
