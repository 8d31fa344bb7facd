package table

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/expr"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
)

// Schema names the columns that a table has beside those that every Row has. The zero value has
// none.
type Schema struct {
	Parameters []string // in the order of the file
	Metrics    []string
	Steps      []string // metrics with a column for the step of the value
	// Dimension, when set, has the values of parameters, which are then not taken from rows. What
	// is made of such a schema is for one goroutine.
	Dimension func(parameter string) Dimension
}

// With returns the schema with the parameters and metrics of rows added after its own, in order of
// first appearance. Give it what the task definition declares, so that a metric that no task has
// printed yet is known.
func (s Schema) With(rows []Row) Schema {
	parameters, metrics := newNameList(s.Parameters), newNameList(s.Metrics)
	for i := range rows {
		for j, p := range rows[i].Parameters {
			parameters.add(j, p.Name)
		}
		for j, m := range rows[i].Metrics {
			metrics.add(j, m.Name)
		}
	}
	s.Parameters, s.Metrics = parameters.names, metrics.names
	return s
}

type nameList struct {
	names  []string
	places map[string]int
}

func newNameList(names []string) *nameList {
	l := &nameList{places: map[string]int{}}
	for _, n := range names {
		l.add(-1, n)
	}
	return l
}

// add adds name unless it is there and returns its place; most rows have the same names at the same
// position, which needs no look-up.
func (l *nameList) add(position int, name string) int {
	if position >= 0 && position < len(l.names) && l.names[position] == name {
		return position
	}
	at, known := l.places[name]
	if !known {
		at = len(l.names)
		l.places[name] = at
		l.names = append(l.names, name)
	}
	return at
}

// columns returns all columns in the order of CSV, each with the name that find knows it by: a
// parameter named like a fixed column, or a metric named like a parameter, carries the prefix that
// tells them apart.
func (s Schema) columns() []column {
	var middle []column
	for _, p := range s.Parameters {
		c := parameterColumn(p)
		c.name = ParameterName(p)
		middle = append(middle, c)
	}
	for _, m := range s.Metrics {
		c := metricColumn(m)
		if _, taken := fixedColumn(m); taken || slices.Contains(s.Parameters, m) {
			c.name = "metrics." + m
		}
		middle = append(middle, c)
		if slices.Contains(s.Steps, m) {
			middle = append(middle, stepColumn(m))
		}
	}
	return slices.Concat(fixed[:columnsBefore], middle, fixed[columnsBefore:])
}

// ParameterName returns the name of a parameter's column: with the prefix where every row has a
// column of that name.
func ParameterName(parameter string) string {
	if _, taken := fixedColumn(parameter); taken {
		return "parameters." + parameter
	}
	return parameter
}

// columnsBefore is how many fixed columns stand before parameters and metrics: id to state.
const columnsBefore = 5

// find returns the column of a name; "parameters.NAME", "metrics.NAME" and "steps.NAME" always
// work.
func (s Schema) find(name string) (column, bool) { return s.finder()(name) }

// finder returns find, for many names.
func (s Schema) finder() func(name string) (column, bool) {
	known := map[string]column{}
	for _, c := range s.columns() {
		if _, taken := known[c.name]; !taken {
			known[c.name] = c
		}
	}
	return func(name string) (column, bool) {
		if c, ok := known[name]; ok {
			return s.bind(c), true
		}
		if p, ok := strings.CutPrefix(name, "parameters."); ok && slices.Contains(s.Parameters, p) {
			return s.bind(parameterColumn(p)), true
		}
		if m, ok := strings.CutPrefix(name, "metrics."); ok && slices.Contains(s.Metrics, m) {
			return metricColumn(m), true
		}
		if m, ok := strings.CutPrefix(name, stepsPrefix); ok && slices.Contains(s.Metrics, m) {
			return stepColumn(m), true
		}
		return column{}, false
	}
}

// lookup is find; its error is an [*UnknownColumn].
func (s Schema) lookup(name string) (column, error) {
	c, ok := s.find(name)
	if !ok {
		problem, remedy := s.unknown(name)
		return c, &UnknownColumn{Name: name, Text: problem + "; " + remedy}
	}
	return c, nil
}

// unknown says what is wrong with a name that find does not know, and the way out.
func (s Schema) unknown(name string) (problem, remedy string) {
	var names []string
	for _, c := range s.columns() {
		names = append(names, c.name)
	}
	problem = fmt.Sprintf("there is no column %q", expr.Shorten(name))
	if near := fault.Nearest(name, names); near != "" {
		remedy = fmt.Sprintf("did you mean %s? ", human.Visible(near))
	}
	const most = 40
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return problem, remedy + "the columns are " + human.Visible(strings.Join(names, ", ")) + more
}

// Names returns the names of all columns, in the order of CSV.
func (s Schema) Names() (names []string) {
	for _, c := range s.columns() {
		names = append(names, c.name)
	}
	return names
}
