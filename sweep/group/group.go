// Package group summarizes the tasks of a sweep: one group for each combination of values that they
// have in some columns, with mean, deviation and 95 % interval of what they measured.
//
// A [Grouper] takes the tasks one by one, in memory proportional to the groups. Its [Table] is what
// the API answers and what is written as text, CSV and JSON. A task without a value that counts is
// named in its group, with the reason.
//
// It is pure: no files, no network, no clock. The API, the monitor and commands may import it.
package group

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Bounds of a table.
const (
	MaxGroups  = 100_000
	maxMetrics = 16
)

// Options say how tasks are grouped, and what is summarized.
type Options struct {
	Sweep string // of the tasks
	// By are the columns in which the tasks of a group agree; none: all tasks are one group.
	By []string
	// Metrics are metrics, or other columns that measure, such as duration; none: the metric of the
	// objective, without one all metrics of the schema, and the duration where it has none.
	Metrics   []string
	Objective metric.Objective
	Schema    table.Schema
	Max       int // groups; 0: MaxGroups
}

// Grouper sorts tasks into groups. Not for concurrent use.
type Grouper struct {
	o       Options
	by      []*key
	metrics []measure

	places   map[string]int // of groups, by the numbers of their values
	place    []byte
	groups   []entry
	measured []measured // of each group, one for each metric
	students map[int64]float64
}

// measure is a column that is summarized.
type measure struct {
	name string
	of   table.Column
	// objective has the states of tasks whose value counts.
	objective metric.Objective
}

// entry is a group while it grows.
type entry struct {
	values []uint32 // of each key
	tasks  int64
	first  int64 // index of a task
	issued bool  // some task was handed out
}

// measured is what the tasks of a group had for a metric.
type measured struct {
	Moments
	missing []missing
}

type missing struct {
	why          string
	tasks, first int64
}

// New makes a grouper. Its error is an [*Error], which wraps a [*table.UnknownColumn] where there
// is no such column.
func New(o Options) (*Grouper, error) {
	if o.Max == 0 {
		o.Max = MaxGroups
	}
	g := &Grouper{o: o, places: map[string]int{}, students: map[int64]float64{}}
	for _, name := range o.By {
		column, err := o.Schema.Column(name)
		if err != nil {
			return nil, g.unknown("by", name, err)
		}
		if !slices.ContainsFunc(g.by, func(k *key) bool { return k.name == name }) {
			g.by = append(g.by, newKey(name, column))
		}
	}
	if err := g.choose(); err != nil {
		return nil, err
	}
	g.rename()
	return g, nil
}

// choose finds the columns that are summarized.
func (g *Grouper) choose() error {
	names := g.o.Metrics
	switch {
	case len(names) > 0:
	case !g.o.Objective.IsZero():
		g.measure(g.o.Objective.Metric, table.MetricColumn(g.o.Objective.Metric))
	case len(g.o.Schema.Metrics) > 0:
		for _, name := range g.o.Schema.Metrics {
			g.measure(name, table.MetricColumn(name))
		}
	default:
		names = []string{durationColumn}
	}
	for _, name := range names {
		column, err := g.o.Schema.Column(name)
		if err != nil {
			return g.unknown("of", name, err)
		}
		if !column.Measures() { // a parameter may have the name of a metric
			if metric, err := g.o.Schema.Column("metrics." + name); err == nil {
				column = metric
			}
		}
		if !column.Measures() {
			return &Error{"of",
				fmt.Sprintf("%s is not a metric, and not the duration: it has no mean",
					human.Visible(name)), nil}
		}
		if column.Metric() != "" {
			name = column.Metric()
		}
		g.measure(name, column)
	}
	if n := len(g.metrics); n > maxMetrics {
		return &Error{"of", fmt.Sprintf("%d metrics are more than %d; name those that are wanted "+
			"(--metrics)", n, maxMetrics), nil}
	}
	return nil
}

// unknown is the error of a column that there is not: it may be a part of a name with a comma.
func (g *Grouper) unknown(parameter, name string, err error) error {
	text := err.Error()
	for _, whole := range slices.Concat(g.o.Schema.Parameters, g.o.Schema.Metrics) {
		if parts := strings.Split(whole, ","); len(parts) > 1 && slices.Contains(parts, name) {
			text = fmt.Sprintf("there is no column %q; write %s where that is meant, in "+
				"backquotes as it has a comma",
				human.Visible(name), human.Visible(JoinNames([]string{whole})))
		}
	}
	return &Error{parameter, text, err}
}

func (g *Grouper) measure(name string, column table.Column) {
	if slices.ContainsFunc(g.metrics, func(m measure) bool { return m.name == name }) {
		return
	}
	o := metric.Objective{Metric: name, Maximize: g.o.Objective.Maximize,
		Timeouts: g.o.Objective.Timeouts}
	g.metrics = append(g.metrics, measure{name, column, o})
}

// Fields are what is looked at of a task beside its index.
func (g *Grouper) Fields() table.Fields {
	all := table.FieldState | table.FieldAttempts
	for _, k := range g.by {
		all |= k.of.Fields()
	}
	for _, m := range g.metrics {
		all |= m.of.Fields()
	}
	return all
}

// Metrics are the names of the metrics that are looked at.
func (g *Grouper) Metrics() (names []string) {
	for _, k := range g.by {
		if k.of.Metric() != "" {
			names = append(names, k.of.Metric())
		}
	}
	for _, m := range g.metrics {
		if m.of.Metric() != "" {
			names = append(names, m.of.Metric())
		}
	}
	return names
}

// Add takes a task. Its error says that there are too many groups.
func (g *Grouper) Add(r *table.Row) error {
	g.place = g.place[:0]
	for _, k := range g.by {
		g.place = binary.BigEndian.AppendUint32(g.place, k.number(r))
	}
	at, known := g.places[string(g.place)]
	if !known {
		if len(g.groups) == g.o.Max {
			return g.tooMany()
		}
		at = g.begin(r.Index)
	}
	e := &g.groups[at]
	e.tasks++
	e.issued = e.issued || r.Attempts > 0
	for i := range g.metrics {
		g.measured[at*len(g.metrics)+i].add(&g.metrics[i], r)
	}
	return nil
}

// begin makes the group of the place.
func (g *Grouper) begin(index int64) (at int) {
	at = len(g.groups)
	g.places[string(g.place)] = at
	e := entry{first: index, values: make([]uint32, len(g.by))}
	for i := range e.values {
		e.values[i] = binary.BigEndian.Uint32(g.place[4*i:])
	}
	g.groups = append(g.groups, e)
	g.measured = append(g.measured, make([]measured, len(g.metrics))...)
	return at
}

// Why a task has no value that counts, beside the names of states.
const (
	noValue     = "without a value"
	notANumber  = "nan"
	infinite    = "inf"
	lessThanAny = "-inf"
)

func (m *measured) add(of *measure, r *table.Row) {
	if !of.objective.Ranks(r.State) {
		m.miss(r.State, r.Index)
		return
	}
	v, ok := of.of.Number(r)
	switch {
	case !ok:
		m.miss(noValue, r.Index)
	case math.IsNaN(v):
		m.miss(notANumber, r.Index)
	case math.IsInf(v, 1):
		m.miss(infinite, r.Index)
	case math.IsInf(v, -1):
		m.miss(lessThanAny, r.Index)
	default:
		m.Add(v)
	}
}

// diverged reports whether the value of a task is not finite.
func (m *measured) diverged() bool {
	return slices.ContainsFunc(m.missing, func(one missing) bool {
		return one.why == notANumber || one.why == infinite || one.why == lessThanAny
	})
}

func (m *measured) miss(why string, index int64) {
	for i := range m.missing {
		if m.missing[i].why == why {
			m.missing[i].tasks++
			return
		}
	}
	m.missing = append(m.missing, missing{why, 1, index})
}

// Error is a question that cannot be answered.
type Error struct {
	Parameter string // of the API: by or of
	Text      string
	cause     error
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.cause }

func (g *Grouper) tooMany() error {
	most := slices.MaxFunc(g.by, func(a, b *key) int { return len(a.texts) - len(b.texts) })
	return &Error{"by", fmt.Sprintf("there are more than %d groups: %s alone has %d values or "+
		"more; group by columns with fewer values, or look at "+
		"fewer tasks (--where) or at single ones (--group-by none)", g.o.Max,
		human.Visible(most.name), len(most.texts)), nil}
}

// id is a task as people name it.
func (g *Grouper) id(index int64) string { return task.ID{Sweep: g.o.Sweep, Index: index}.String() }

// key is a column by which tasks are grouped. Its values have numbers, 0 for what is absent.
type key struct {
	name    string
	of      table.Column
	texts   []string // of the numbers from 1 on
	numbers map[string]uint32
	last    uint32 // of the value before
}

func newKey(name string, of table.Column) *key {
	return &key{name: name, of: of, numbers: map[string]uint32{}}
}

func (k *key) number(r *table.Row) uint32 {
	text, ok := k.of.Text(r)
	if !ok {
		return 0
	}
	if k.last > 0 && k.texts[k.last-1] == text {
		return k.last
	}
	n, known := k.numbers[text]
	if !known {
		k.texts = append(k.texts, text)
		n = uint32(len(k.texts))
		k.numbers[text] = n
	}
	k.last = n
	return n
}

// text is the value of a number; false: it is absent.
func (k *key) text(number uint32) (string, bool) {
	if number == 0 {
		return "", false
	}
	return k.texts[number-1], true
}
