package result

// Dimension says which value of a parameter each task of a sweep has: known from the task's index,
// without its row.
type Dimension struct {
	Values int64                                // how many values there are
	At     func(index int64) int64              // which of them a task has, from 0
	Value  func(n int64) (text string, ok bool) // the value; false: tasks that have it lack the parameter
}

// mostRemembered is for how many values of a parameter an answer is remembered: a megabyte or a
// few.
const mostRemembered = 1 << 16

// remember answers a question about the values of a parameter, of each value once.
func remember[T any](d Dimension, ask func(text string, ok bool) T) func(index int64) T {
	if d.Values > mostRemembered {
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

// byIndex is a comparison with a parameter that is decided by a task's index.
type byIndex struct{ holds func(index int64) bool }

func (n byIndex) match(r *Row) bool { return n.holds(r.Index) }
func (n byIndex) fields() Fields    { return fieldIndex }
func (n byIndex) metrics() []string { return nil }

// Bind returns the filter with the values of parameters taken from where they come from instead of
// from rows. The result is not for concurrent use.
func (f *Filter) Bind(dimension func(parameter string) Dimension) *Filter {
	if f == nil || f.root == nil {
		return f
	}
	return &Filter{bind(f.root, dimension)}
}

func bind(n node, dimension func(string) Dimension) node {
	switch n := n.(type) {
	case both:
		return both{bind(n.a, dimension), bind(n.b, dimension)}
	case either:
		return either{bind(n.a, dimension), bind(n.b, dimension)}
	case negation:
		return negation{bind(n.a, dimension)}
	case *comparison:
		if n.column.parameter != "" {
			return byIndex{remember(dimension(n.column.parameter), func(text string, ok bool) bool { return n.holds(parameterCell(text, ok)) })}
		}
	}
	return n
}

// Split takes a filter apart into three that all have to pick a row: one that looks at its index
// only, one that looks at its state, and one that looks at Fields of it. Filters without a
// condition pick every row.
func (f *Filter) Split() (index, state, rest *Filter) {
	index, state, rest = &Filter{}, &Filter{}, &Filter{}
	if f == nil || f.root == nil {
		return index, state, rest
	}
	for _, n := range conditions(f.root) {
		switch n.fields() {
		case fieldIndex:
			index.require(n)
		case FieldState:
			state.require(n)
		default:
			rest.require(n)
		}
	}
	return index, state, rest
}

// conditions are the parts of a filter that all have to hold.
func conditions(n node) []node {
	if b, ok := n.(both); ok {
		return append(conditions(b.a), conditions(b.b)...)
	}
	return []node{n}
}

func (f *Filter) require(n node) {
	if f.root == nil {
		f.root = n
		return
	}
	f.root = both{f.root, n}
}

// IsZero reports whether the filter picks every row.
func (f *Filter) IsZero() bool { return f == nil || f.root == nil }

// Fields are what the filter looks at beside the index.
func (f *Filter) Fields() Fields {
	if f.IsZero() {
		return 0
	}
	return f.root.fields() &^ fieldIndex
}

// Metrics are the names of the metrics that the filter looks at.
func (f *Filter) Metrics() []string {
	if f.IsZero() {
		return nil
	}
	return f.root.metrics()
}
