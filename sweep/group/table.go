package group

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/expr"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// Table is groups in an order. Its JSON names and those of what is in it are the contract of the
// API and of --json.
type Table struct {
	By      []string `json:"by"`      // the columns in which the tasks of a group agree
	Metrics []string `json:"metrics"` // what is summarized, in the order of the columns
	// maximize METRIC, where the groups are ranked by the mean of a metric; "": they are not
	Objective string  `json:"objective"`
	Groups    []Group `json:"groups"`
	Total     int64   `json:"total"` // groups, also those of other pages
	// groups that are left out as no task of them was handed out yet
	Fresh int64 `json:"fresh"`
}

// Group is the tasks that have the same values in some columns.
type Group struct {
	By      map[string]*string    `json:"by"`    // the values; null: absent
	Tasks   int64                 `json:"tasks"` // of the group
	Metrics map[string]Statistics `json:"metrics"`
}

// Statistics summarizes one metric over the tasks of a group: those that are ranked and have a
// finite value. N and the tasks of Missing together are the tasks of the group.
type Statistics struct {
	N    int64    `json:"n"`    // tasks with a value that counts
	Mean *float64 `json:"mean"` // null: no value
	// sample standard deviation, n-1 in the denominator; null: fewer than two values
	SD *float64 `json:"sd"`
	// the ends of the 95 % interval of the mean, by Student's t; null as SD
	Low     *float64  `json:"low"`
	High    *float64  `json:"high"`
	Missing []Missing `json:"missing"`
}

// Missing is tasks of a group without a value that counts.
type Missing struct {
	// their state; of tasks that are ranked "without a value", "nan", "inf" or "-inf"
	Why   string `json:"why"`
	Tasks int64  `json:"tasks"`
	First string `json:"first"` // the task of the least index
}

// Order is which groups a table has, and how they stand.
type Order struct {
	// Sort is a column, or -COLUMN for descending order: one of those grouped by, tasks, METRIC or
	// METRIC.mean, METRIC.n, METRIC.sd, METRIC.low, METRIC.high, or n, mean, sd, low, high of the
	// first metric. A name that fits several of these stands for the first that it fits. If it is
	// "", groups are ranked by the mean of the objective's metric, or, where that is not
	// summarized, stand in the order of their first tasks. Those in which a task diverged, with
	// nan or an infinite value, stand behind the others.
	Sort   string
	Issued bool  // only groups of which a task was handed out
	Top    int64 // only the first so many; 0: all
	Skip   int64 // of these
	Most   int64 // of those that are left; 0: all
}

// Table returns the groups of the tasks so far. What has no place in an order stands last, and
// equal groups stand in the order of their first tasks. A column that there is not is an error of
// type [*table.UnknownColumn].
func (g *Grouper) Table(o Order) (Table, error) {
	t := Table{By: []string{}, Metrics: []string{}, Groups: []Group{}}
	for _, k := range g.by {
		t.By = append(t.By, k.name)
	}
	for _, m := range g.metrics {
		t.Metrics = append(t.Metrics, m.name)
	}
	compare, err := g.order(o.Sort, &t)
	if err != nil {
		return t, err
	}
	places := make([]int, 0, len(g.groups))
	for i := range g.groups {
		if !o.Issued || g.groups[i].issued {
			places = append(places, i)
		}
	}
	t.Fresh = int64(len(g.groups) - len(places))
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Or(compare(a, b), cmp.Compare(g.groups[a].first, g.groups[b].first))
	})
	places = first(places, o.Top)
	t.Total = int64(len(places))
	for _, at := range first(places[min(o.Skip, t.Total):], o.Most) {
		t.Groups = append(t.Groups, g.group(at))
	}
	return t, nil
}

// Where is the filter that picks the tasks of the group, of a table by some columns.
func (g Group) Where(by []string) string {
	conditions := make([]string, len(by))
	for i, name := range by {
		conditions[i] = expr.Name(name) + " = " + expr.Quote(text(g.By[name], ""))
	}
	return strings.Join(conditions, " and ")
}

// first are the first n of places; 0: all.
func first(places []int, n int64) []int {
	if n <= 0 || n > int64(len(places)) {
		return places
	}
	return places[:n]
}

func (g *Grouper) group(at int) Group {
	e := &g.groups[at]
	one := Group{By: map[string]*string{}, Tasks: e.tasks, Metrics: map[string]Statistics{}}
	for i, k := range g.by {
		one.By[k.name] = nil
		if text, ok := k.text(e.values[i]); ok {
			one.By[k.name] = &text
		}
	}
	for i, m := range g.metrics {
		one.Metrics[m.name] = g.statistics(g.of(at, i))
	}
	return one
}

func (g *Grouper) of(at, metric int) *measured { return &g.measured[at*len(g.metrics)+metric] }

func (g *Grouper) statistics(m *measured) Statistics {
	s := Statistics{N: m.N(), Missing: []Missing{}}
	if mean, ok := m.Mean(); ok {
		s.Mean = &mean
	}
	if sd, ok := m.Deviation(); ok {
		s.SD = &sd
	}
	if low, high, ok := g.interval(m); ok {
		s.Low, s.High = &low, &high
	}
	for _, one := range m.missing {
		s.Missing = append(s.Missing, Missing{one.why, one.tasks, g.id(one.first)})
	}
	return s
}

// interval is that of a metric; groups are mostly of the same few sizes.
func (g *Grouper) interval(m *measured) (low, high float64, ok bool) {
	n := m.N()
	if _, known := g.students[n]; !known {
		g.students[n] = Student(confidence, n)
	}
	return m.Moments.interval(g.students[n])
}

// order returns how groups are compared.
func (g *Grouper) order(by string, t *Table) (func(a, b int) int, error) {
	if by == "" {
		objective := g.o.Objective
		at := slices.Index(t.Metrics, objective.Metric)
		if objective.IsZero() || at < 0 {
			return func(int, int) int { return 0 }, nil
		}
		t.Objective = objective.String()
		compare := g.byNumber(objective.Maximize, at, meanOf)
		return func(a, b int) int {
			one, other := g.of(a, at), g.of(b, at)
			if one.N() > 0 && other.N() > 0 && one.diverged() != other.diverged() {
				return compareAbsent(!one.diverged(), !other.diverged())
			}
			return compare(a, b)
		}, nil
	}
	name, descending := strings.CutPrefix(by, "-")
	if i := slices.Index(t.By, name); i >= 0 {
		return g.byValue(descending, i), nil
	}
	if metric, get := g.statistic(name); get != nil {
		return g.byNumber(descending, metric, get), nil
	}
	names := append(slices.Clone(t.By), tasksColumn)
	for _, m := range t.Metrics {
		for _, s := range statistics {
			names = append(names, m+"."+s.name)
		}
	}
	text := fmt.Sprintf("there is no column %q among the groups; ", human.Visible(name))
	if near := fault.Nearest(name, names); near != "" {
		text += fmt.Sprintf("did you mean %s? ", human.Visible(near))
	}
	return nil, &table.UnknownColumn{Name: name, Text: text + "the columns are " +
		human.Visible(strings.Join(names, ", "))}
}

// durationColumn is how long tasks ran, in seconds.
const durationColumn = "duration"

// tasksColumn is how many tasks a group has.
const tasksColumn = "tasks"

// number is one of a group's for a metric; false: it has none.
type number func(g *Grouper, group, metric int) (float64, bool)

// statistics are the columns of one metric.
var statistics = []struct {
	name string
	get  number
}{
	{"n", func(g *Grouper, group, metric int) (float64,
		bool) {
		return float64(g.of(group, metric).N()), true
	}},
	{"mean", meanOf},
	{"sd", func(g *Grouper, group, metric int) (float64,
		bool) {
		return g.of(group, metric).Deviation()
	}},
	{"low", func(g *Grouper, group, metric int) (float64, bool) {
		low, _, ok := g.interval(g.of(group, metric))
		return low, ok
	}},
	{"high", func(g *Grouper, group, metric int) (float64, bool) {
		_, high, ok := g.interval(g.of(group, metric))
		return high, ok
	}},
}

func meanOf(g *Grouper, group, metric int) (float64, bool) { return g.of(group, metric).Mean() }

// statistic finds a column of numbers; nil: there is no such column.
func (g *Grouper) statistic(name string) (metric int, get number) {
	if name == tasksColumn {
		return 0, func(g *Grouper, group, _ int) (float64,
			bool) {
			return float64(g.groups[group].tasks), true
		}
	}
	is := []func(metric, statistic string, i int) bool{ // what a name can mean, the first that fits
		func(metric, statistic string, _ int) bool { return name == metric+"."+statistic },
		func(metric, statistic string, _ int) bool { return name == metric && statistic == "mean" },
		func(_, statistic string, i int) bool { return name == statistic && i == 0 },
	}
	for _, is := range is {
		for _, s := range statistics {
			for i, m := range g.metrics {
				if is(m.name, s.name, i) {
					return i, s.get
				}
			}
		}
	}
	return 0, nil
}

// byNumber compares groups by a number. Those without one are last.
func (g *Grouper) byNumber(descending bool, metric int, get number) func(a, b int) int {
	numbers, has := make([]float64, len(g.groups)), make([]bool, len(g.groups))
	for i := range g.groups {
		numbers[i], has[i] = get(g, i, metric)
	}
	return func(a, b int) int {
		switch {
		case !has[a] || !has[b]:
			return compareAbsent(has[a], has[b])
		case descending:
			return cmp.Compare(numbers[b], numbers[a])
		default:
			return cmp.Compare(numbers[a], numbers[b])
		}
	}
}

func compareAbsent(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// byValue compares groups by their value in a column: as numbers where all are numbers, else as
// text in which runs of digits count as numbers.
func (g *Grouper) byValue(descending bool, column int) func(a, b int) int {
	k := g.by[column]
	compare := func(a, b uint32) int { return human.CompareNatural(k.texts[a-1], k.texts[b-1]) }
	if numbers, ok := numbersOf(k.texts); ok {
		compare = func(a, b uint32) int { return cmp.Compare(numbers[a-1], numbers[b-1]) }
	}
	return func(a, b int) int {
		x, y := g.groups[a].values[column], g.groups[b].values[column]
		switch {
		case x == 0 || y == 0:
			return compareAbsent(x > 0, y > 0)
		case descending:
			return compare(y, x)
		default:
			return compare(x, y)
		}
	}
}

func numbersOf(texts []string) (numbers []float64, ok bool) {
	for _, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) {
			return nil, false
		}
		numbers = append(numbers, v)
	}
	return numbers, true
}

// rename gives parameters and metrics that have the name of another column of a table the prefix
// that tells them apart.
func (g *Grouper) rename() {
	taken := map[string]bool{tasksColumn: true}
	for _, m := range g.metrics {
		taken[m.name], taken[m.name+missingSuffix] = true, true
		for _, s := range statistics {
			taken[m.name+"."+s.name] = true
		}
	}
	for _, k := range g.by {
		switch {
		case !taken[k.name]:
		case k.of.Parameter() != "":
			k.name = "parameters." + k.of.Parameter()
		case k.of.Metric() != "":
			k.name = "metrics." + k.of.Metric()
		}
	}
}

// missingSuffix ends the name of the column that says which tasks of a group have no value.
const missingSuffix = ".missing"
