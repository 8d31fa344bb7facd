package table

import (
	"slices"

	"mlframework/sweep/expr"
)

// Dimension says which value of a parameter each task of a sweep has: known from the task's index,
// without its row.
type Dimension struct {
	Values int64                   // how many values there are
	At     func(index int64) int64 // which of them a task has, from 0
	// the value; false: tasks that have it lack the parameter
	Value func(n int64) (text string, ok bool)
}

// maxMemoized is for how many values of a parameter an answer is remembered: a megabyte or a
// few.
const maxMemoized = 1 << 16

// memoize answers a question about the values of a parameter, of each value once.
func memoize[T any](d Dimension, ask func(text string, ok bool) T) func(index int64) T {
	if d.Values > maxMemoized {
		return func(index int64) T { return ask(d.Value(d.At(index))) }
	}
	known, answers := make([]bool, d.Values), make([]T, d.Values)
	return func(index int64) T {
		n := d.At(index)
		if !known[n] {
			known[n], answers[n] = true, ask(d.Value(n))
		}
		return answers[n]
	}
}

// Bind returns the filter with the values of parameters taken from where they come from instead of
// from rows. The result is not for concurrent use.
func (f *Filter) Bind(dimension func(parameter string) Dimension) *Filter {
	if f.IsZero() {
		return f
	}
	bound := &Filter{}
	columns := map[int]column{} // by slot, those of parameters
	for _, c := range f.conditions {
		bound.conditions = append(bound.conditions, c.bind(dimension, columns))
	}
	return bound
}

// bind replaces the columns of parameters, which it keeps for other conditions.
func (c condition) bind(dimension func(string) Dimension, bound map[int]column) condition {
	slots := c.expr.Slots()
	if len(slots) == 1 {
		if name := c.columns[slots[0]].parameter; name != "" {
			c.byIndex = memoize(dimension(name), func(text string, ok bool) bool {
				return c.expr.Holds(func(int) expr.Value { return parameterCell(text, ok) })
			})
		}
		return c
	}
	c.columns = slices.Clone(c.columns)
	for _, slot := range slots {
		of := c.columns[slot]
		if of.parameter == "" {
			continue
		}
		if _, ok := bound[slot]; !ok {
			value := memoize(dimension(of.parameter), parameterCell)
			of.needs, of.get = fieldIndex, func(r *Row) cell { return value(r.Index) }
			bound[slot] = of
		}
		c.columns[slot] = bound[slot]
	}
	return c
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
