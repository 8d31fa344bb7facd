package table

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

// bind returns a column with its values taken from the parameter's dimension, if it has one.
func (s Schema) bind(c column) column {
	if s.Dimension == nil || c.parameter == "" {
		return c
	}
	type value struct {
		text string
		ok   bool
	}
	d := s.Dimension(c.parameter)
	texts := memoize(d, func(text string, ok bool) value { return value{text, ok} })
	cells := memoize(d, parameterCell)
	c.needs = fieldIndex
	c.text = func(r *Row) (string, bool) {
		v := texts(r.Index)
		return v.text, v.ok
	}
	c.get = func(r *Row) cell { return cells(r.Index) }
	return c
}
