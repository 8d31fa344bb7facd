package table

// Column is a column of the table of results, for questions about the values of many tasks.
type Column struct{ of column }

// Column returns the column of a name as [Sort] knows it. The error is an [*UnknownColumn].
func (s Schema) Column(name string) (Column, error) {
	c, err := s.lookup(name)
	return Column{c}, err
}

// MetricColumn returns the column of a metric, whether a schema has it or not.
func MetricColumn(name string) Column { return Column{metricColumn(name)} }

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
func (c Column) Text(r *Row) (text string, ok bool) {
	if c.of.text != nil {
		return c.of.text(r)
	}
	value := c.of.get(r)
	return value.String(), value.Kind != absent
}

// Number returns the value of a row in a column that measures, which may be NaN or infinite; false
// where it is absent.
func (c Column) Number(r *Row) (v float64, ok bool) {
	value := c.of.get(r)
	return value.Number, value.Kind != absent
}
