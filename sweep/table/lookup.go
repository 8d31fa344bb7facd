package table

import "fmt"

// Column is a column of the table of results, for questions about the values of many tasks.
type Column struct {
	of   column
	text func(*Row) (text string, ok bool)
}

// Column returns the column of a name as [Sort] knows it. The error is an [*UnknownColumn].
func (s Schema) Column(name string) (Column, error) {
	c, ok := s.find(name)
	if !ok {
		problem, remedy := s.unknown(name)
		return Column{}, &UnknownColumn{Name: name, Text: fmt.Sprintf("%s; %s", problem, remedy)}
	}
	return newColumn(c), nil
}

// MetricColumn returns the column of a metric, whether a schema has it or not.
func MetricColumn(name string) Column { return newColumn(metricColumn(name)) }

func newColumn(c column) Column {
	if c.parameter != "" { // whether its text is a number is not asked
		return Column{c, func(r *Row) (string, bool) { return r.Parameters.Get(c.parameter) }}
	}
	return Column{c, func(r *Row) (string, bool) {
		value := c.get(r)
		return value.String(), value.Kind != absent
	}}
}

// Parameter returns the name of the parameter that the column shows; "" for another column.
func (c Column) Parameter() string { return c.of.parameter }

// Metric returns the name of the metric that the column shows; "" for another column.
func (c Column) Metric() string { return c.of.metric }

// Measures reports whether the column holds what tasks measure or take: a metric, the step of one,
// a duration, a number of attempts.
func (c Column) Measures() bool {
	return c.of.needs.Has(FieldMetrics | FieldSteps | FieldDuration | FieldAttempts)
}

// Fields returns what the column looks at beside the index.
func (c Column) Fields() Fields { return c.of.needs &^ fieldIndex }

// Text returns the value of a row in full, as CSV has it; false where it is absent.
func (c Column) Text(r *Row) (text string, ok bool) { return c.text(r) }

// Number returns the value of a row in a column that measures, which may be NaN or infinite; false
// where it is absent.
func (c Column) Number(r *Row) (v float64, ok bool) {
	value := c.of.get(r)
	return value.Number, value.Kind != absent
}

// Bind takes the values of a parameter from where they come from instead of from rows. The result
// is not for concurrent use.
func (c Column) Bind(dimension func(parameter string) Dimension) Column {
	if c.of.parameter == "" {
		return c
	}
	type value struct {
		text string
		ok   bool
	}
	get := memoize(dimension(c.of.parameter), func(text string, ok bool) value {
		return value{text, ok}
	})
	c.of.needs = 0
	c.text = func(r *Row) (string, bool) {
		v := get(r.Index)
		return v.text, v.ok
	}
	return c
}
