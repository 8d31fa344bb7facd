package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/expr"
	"mlframework/sweep/fault"
	"mlframework/sweep/metric"
)

// Filter picks rows by an expression over columns, in the language of [expr]:
//
//	state=failed
//	lr >= 0.01 and (accuracy > 0.9 or not host ~ '^gpu[12]$')
//	loss / steps.loss < 0.1 or host in [gpu1, gpu2]
//
// What is compared with duration may be seconds or 90m. Arithmetic with what is absent or text, a
// division by zero and a logarithm of what is not positive make a comparison that does not hold.
//
// The nil and the zero Filter match every row. Safe for concurrent use unless the schema that it
// was read with has dimensions.
type Filter struct{ conditions []condition }

// FilterError says what is wrong with an expression and where. Its Unknown is a name that no column
// has.
type FilterError = expr.Error

const succeeded = "succeeded" // the name of the state

// states are the names of states, as in sweep/task.
var states = []string{"pending", "queued", "claimed", "running", succeeded, "failed", "timeout",
	"oom", "lost", "cancelled"}

// condition is one of those that all have to hold.
type condition struct {
	expr    *expr.Expr
	columns []column               // by slot, also those of other conditions
	byIndex func(index int64) bool // decides instead, where it is not nil
}

// ParseFilter reads an expression over the columns of a schema; empty text picks every row. Its
// error is a [*FilterError].
func ParseFilter(text string, s Schema) (*Filter, error) {
	names := &columnNames{schema: s, find: s.finder(), slots: map[string]int{}}
	e, err := expr.Parse(text, names)
	if err != nil {
		return nil, err
	}
	f := &Filter{}
	for _, part := range e.Conditions() {
		c := condition{expr: part, columns: names.columns}
		if slots := part.Slots(); len(slots) == 1 && s.Dimension != nil {
			if name := c.columns[slots[0]].parameter; name != "" {
				c.byIndex = memoize(s.Dimension(name), func(text string, ok bool) bool {
					return part.Holds(func(int) expr.Value { return parameterCell(text, ok) })
				})
			}
		}
		f.conditions = append(f.conditions, c)
	}
	return f, nil
}

// Match reports whether the filter picks the row.
func (f *Filter) Match(r *Row) bool {
	if f == nil {
		return true
	}
	for i := range f.conditions {
		if !f.conditions[i].holds(r) {
			return false
		}
	}
	return true
}

func (c *condition) holds(r *Row) bool {
	if c.byIndex != nil {
		return c.byIndex(r.Index)
	}
	return c.expr.Holds(func(slot int) expr.Value { return c.columns[slot].get(r) })
}

// fields returns what the condition looks at.
func (c *condition) fields() (all Fields) {
	if c.byIndex != nil {
		return fieldIndex
	}
	for _, slot := range c.expr.Slots() {
		all |= c.columns[slot].needs
	}
	return all
}

// IsZero reports whether the filter picks every row.
func (f *Filter) IsZero() bool { return f == nil || len(f.conditions) == 0 }

// Fields returns what the filter looks at beside the index.
func (f *Filter) Fields() (all Fields) {
	if f.IsZero() {
		return 0
	}
	for i := range f.conditions {
		all |= f.conditions[i].fields()
	}
	return all &^ fieldIndex
}

// Split takes a filter apart into three that all have to pick a row: one that looks at its index
// only, one that looks at its state, and one that looks at Fields of it. Filters without a
// condition pick every row.
func (f *Filter) Split() (index, state, rest *Filter) {
	index, state, rest = &Filter{}, &Filter{}, &Filter{}
	if f.IsZero() {
		return index, state, rest
	}
	for _, c := range f.conditions {
		part := rest
		switch c.fields() {
		case 0, fieldIndex: // 0: it looks at nothing
			part = index
		case FieldState:
			part = state
		}
		part.conditions = append(part.conditions, c)
	}
	return index, state, rest
}

// IndexRange returns the first and the last index that a row may have which the filter picks, as
// far as that is plain: every index, where it is not.
func (f *Filter) IndexRange() (first, last int64) {
	low, high := 0.0, math.Inf(1)
	if !f.IsZero() {
		for _, c := range f.conditions {
			if c.byIndex != nil {
				continue
			}
			for _, slot := range c.expr.Slots() {
				if of := c.columns[slot]; of.name == indexColumn && of.needs == fieldIndex {
					least, most := c.expr.Bounds(slot)
					low, high = max(low, least), min(high, most)
				}
			}
		}
	}
	return wholeWithin(math.Floor(low), math.Inf(-1)), wholeWithin(math.Ceil(high), math.Inf(1))
}

// wholeWithin returns a whole number as an index, or where it may have been rounded the next one
// towards a bound.
func wholeWithin(v, bound float64) int64 {
	if math.Abs(v) >= expr.Exact {
		v = math.Nextafter(v, bound)
	}
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= 0:
		return 0
	}
	return int64(v)
}

// LooksAtIndex reports whether the filter looks at the index, or at what follows from it.
func (f *Filter) LooksAtIndex() bool {
	return !f.IsZero() && slices.ContainsFunc(f.conditions, func(c condition) bool {
		return c.fields().Has(fieldIndex)
	})
}

// Metrics returns the names of the metrics that the filter looks at.
func (f *Filter) Metrics() (names []string) {
	if f.IsZero() {
		return nil
	}
	for i := range f.conditions {
		c := &f.conditions[i]
		for _, slot := range c.expr.Slots() {
			if c.columns[slot].needs.Has(FieldMetrics) {
				names = append(names, c.columns[slot].metric)
			}
		}
	}
	return names
}

// columnNames are the names of a filter. Its columns are those that it looked up, by slot.
type columnNames struct {
	schema  Schema
	find    func(name string) (column, bool)
	slots   map[string]int
	columns []column
}

func (n *columnNames) Lookup(name string) (int, bool) {
	slot, known := n.slots[name]
	if known {
		return slot, true
	}
	c, ok := n.find(name)
	if !ok {
		return 0, false
	}
	slot = len(n.columns)
	n.slots[name] = slot
	n.columns = append(n.columns, c)
	return slot, true
}

func (n *columnNames) Unknown(name string) (problem, remedy string) {
	return n.schema.unknown(name)
}

// Literal reads what is compared with a duration, seconds or 90m, and with a state.
func (n *columnNames) Literal(slot int, word string) (expr.Value, bool, *expr.Error) {
	switch n.columns[slot].name {
	case durationColumn:
		return durationLiteral(word)
	case stateColumn:
		return expr.Value{}, false, checkState(word)
	}
	return expr.Value{}, false, nil
}

func durationLiteral(word string) (expr.Value, bool, *expr.Error) {
	if v, err := strconv.ParseFloat(word, 64); err == nil && metric.IsFinite(v) {
		return expr.Value{Kind: expr.Number, Text: word, Number: v}, true, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		return expr.Value{}, false,
			&expr.Error{Problem: fmt.Sprintf("%q is not a duration", expr.Shorten(word)),
				Remedy: "write seconds, or a duration such as 90m or 1h30m"}
	}
	return expr.Value{Kind: expr.Number, Text: word, Number: d.Seconds()}, true, nil
}

// checkState returns the error of a word that is not a state; nil for a state.
func checkState(word string) *expr.Error {
	if slices.Contains(states, word) {
		return nil
	}
	remedy := "the states are " + strings.Join(states, ", ")
	if near := fault.Nearest(word, states); near != "" {
		remedy = "did you mean " + near + "? " + remedy
	}
	return &expr.Error{Problem: fmt.Sprintf("there is no state %q", expr.Shorten(word)),
		Remedy: remedy}
}
