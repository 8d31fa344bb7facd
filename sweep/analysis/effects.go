// Package analysis computes which parameters of a sweep matter: how a metric is distributed over
// the values of each, how much of its variance each explains, and what failures have in common.
//
// It is pure: no files, no network, no clock.
package analysis

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Most values of a parameter that stand for themselves; more numbers than that are put into Ranges
// ranges with about the same number of tasks.
const (
	MostValues = 12
	Ranges     = 8
)

// Effects tells of a metric by the values of parameters.
type Effects struct {
	Points     int64    // tasks that have a finite value of the metric
	Without    int64    // tasks that ended without one
	Failed     int64    // those of them that failed
	Parameters []Effect // those with several values, the one that explains most first
}

// Effect is one parameter.
type Effect struct {
	Name string
	// Share is the part of the metric's variance between the means of the parameter's values, from 0
	// to 1: the correlation ratio. On a complete grid, the shares of all parameters and of their
	// interactions add up to 1. NaN: the metric has no variance, or no value has two tasks.
	Share  float64
	Values []Value // numbers in ascending order, others as they came
}

// Value is one value of a parameter, or a range of its values. Without tasks that have the metric,
// all numbers are NaN.
type Value struct {
	Text   string // of a range "FROM to TO"
	Tasks  int64  // all that ended
	Points int64  // those that have the metric
	Failed int64
	// Best is the largest or smallest; the others are quantiles, between neighbours by linear
	// interpolation as numpy.quantile has it.
	Best, P05, P25, Median, P75, P95 float64
}

// Collector takes the tasks of a sweep. The zero value has no parameters.
type Collector struct {
	names  []string
	levels []levels  // by parameter
	tasks  [][]int32 // by parameter: the level of each task
	values []float64 // of the tasks; NaN: none
	failed []bool    // of the tasks
}

// levels are the values of a parameter or another column, as they came.
type levels struct {
	index map[string]int32
	texts []string
}

// level returns the number of a value, which is a new one if it did not come before.
func (l *levels) level(text string) int32 {
	at, known := l.index[text]
	if !known {
		at = int32(len(l.texts))
		l.index[text] = at
		l.texts = append(l.texts, text)
	}
	return at
}

// NewCollector returns a collector of tasks with some parameters.
func NewCollector(names []string) *Collector {
	c := &Collector{names: names, levels: make([]levels, len(names)),
		tasks: make([][]int32, len(names))}
	for i := range c.levels {
		c.levels[i].index = map[string]int32{}
	}
	return c
}

// Add takes a task that has ended: the text of each parameter, "" where it has none; the value of
// the metric, which does not count unless it is finite; and whether the task failed.
func (c *Collector) Add(texts []string, value float64, failed bool) {
	for i, text := range texts {
		c.tasks[i] = append(c.tasks[i], c.levels[i].level(text))
	}
	if math.IsInf(value, 0) {
		value = math.NaN()
	}
	c.values = append(c.values, value)
	c.failed = append(c.failed, failed)
}

// Effects returns what the tasks tell; maximize says which values are the best.
func (c *Collector) Effects(maximize bool) (e Effects) {
	for i, v := range c.values {
		switch {
		case !math.IsNaN(v):
			e.Points++
		case c.failed[i]:
			e.Failed++
			fallthrough
		default:
			e.Without++
		}
	}
	for i, name := range c.names {
		if len(c.levels[i].texts) > 1 {
			e.Parameters = append(e.Parameters, c.effect(i, name, maximize))
		}
	}
	slices.SortStableFunc(e.Parameters, func(a, b Effect) int {
		return cmp.Compare(orZero(b.Share), orZero(a.Share))
	})
	return e
}

func orZero(share float64) float64 {
	if math.IsNaN(share) {
		return 0
	}
	return share
}

func (c *Collector) effect(parameter int, name string, maximize bool) Effect {
	groups := c.groups(parameter)
	e := Effect{Name: name}
	values := make([][]float64, len(groups.texts))
	tasks, failed := make([]int64, len(groups.texts)), make([]int64, len(groups.texts))
	for i, level := range c.tasks[parameter] {
		g := groups.of[level]
		tasks[g]++
		if v := c.values[i]; !math.IsNaN(v) {
			values[g] = append(values[g], v)
		} else if c.failed[i] {
			failed[g]++
		}
	}
	e.Share = share(values)
	for g, all := range values {
		e.Values = append(e.Values, newValue(groups.texts[g], all, tasks[g], failed[g], maximize))
	}
	return e
}

// groups are the values of a parameter as they are shown.
type groups struct {
	texts []string
	of    []int // by level
}

func (c *Collector) groups(parameter int) (g groups) {
	texts := c.levels[parameter].texts
	order := make([]int, len(texts))
	numbers := make([]float64, len(texts))
	numeric := true
	for i, text := range texts {
		order[i] = i
		n, err := strconv.ParseFloat(text, 64)
		numbers[i], numeric = n, numeric && err == nil && !math.IsNaN(n)
	}
	g.of = make([]int, len(texts))
	if numeric {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	if !numeric || len(texts) <= MostValues {
		for at, level := range order {
			g.of[level] = at
			g.texts = append(g.texts, texts[level])
		}
		return g
	}
	counts := make([]int, len(texts))
	for _, level := range c.tasks[parameter] {
		counts[level]++
	}
	first, seen, total := 0, 0, len(c.tasks[parameter])
	for at, level := range order {
		g.of[level] = len(g.texts)
		seen += counts[level]
		if seen*Ranges >= (len(g.texts)+1)*total || at == len(order)-1 {
			text := texts[order[first]]
			if first < at {
				text += " to " + texts[level]
			}
			g.texts, first = append(g.texts, text), at+1
		}
	}
	return g
}

// share returns the correlation ratio of groups of values: the sum of squares between their means,
// weighted by size, over the sum of squares of all.
func share(groups [][]float64) float64 {
	n, several, sum := 0, false, 0.0
	for _, group := range groups {
		several = several || len(group) > 1
		for _, v := range group {
			sum += v
			n++
		}
	}
	mean := sum / float64(n)
	between, all := 0.0, 0.0
	for _, group := range groups {
		s := 0.0
		for _, v := range group {
			s += v - mean
			all += (v - mean) * (v - mean)
		}
		if len(group) > 0 {
			between += s * s / float64(len(group))
		}
	}
	if all == 0 || !several { // nothing varies, or each value is of one task
		return math.NaN()
	}
	return min(1, between/all)
}

func newValue(text string, all []float64, tasks, failed int64, maximize bool) Value {
	slices.Sort(all)
	v := Value{Text: text, Tasks: tasks, Points: int64(len(all)), Failed: failed,
		P05: Quantile(all, 0.05), P25: Quantile(all, 0.25), Median: Quantile(all, 0.5),
		P75: Quantile(all, 0.75), P95: Quantile(all, 0.95), Best: Quantile(all, 0)}
	if maximize {
		v.Best = Quantile(all, 1)
	}
	return v
}

// Grid is how a metric is distributed over the pairs of values of two parameters. Texts are those of
// [Value]. A pair that no task has has no points.
type Grid struct {
	X, Y  []string
	Cells [][]Value // by Y, then by X; without texts
}

// Grid returns what the tasks tell of two of the collector's parameters, of at most so many values
// of each: the first.
func (c *Collector) Grid(x, y, most int, maximize bool) Grid {
	columns, lines := c.groups(x), c.groups(y)
	g := Grid{X: columns.texts[:min(most, len(columns.texts))],
		Y: lines.texts[:min(most, len(lines.texts))]}
	g.Cells = make([][]Value, len(g.Y))
	values := make([][]float64, len(g.X)*len(g.Y))
	tasks, failed := make([]int64, len(values)), make([]int64, len(values))
	for i, v := range c.values {
		line, column := lines.of[c.tasks[y][i]], columns.of[c.tasks[x][i]]
		if line >= len(g.Y) || column >= len(g.X) {
			continue
		}
		at := line*len(g.X) + column
		tasks[at]++
		if !math.IsNaN(v) {
			values[at] = append(values[at], v)
		} else if c.failed[i] {
			failed[at]++
		}
	}
	for i := range values {
		line := i / len(g.X)
		g.Cells[line] = append(g.Cells[line], newValue("", values[i], tasks[i], failed[i], maximize))
	}
	return g
}

// Quantile returns a quantile of sorted numbers, from 0 to 1, as numpy.quantile does by default:
// Hyndman and Fan's definition 7. It is NaN without numbers.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(low)
	if d := sorted[low+1] - sorted[low]; !math.IsInf(d, 0) { // of the largest numbers it would be
		return sorted[low] + part*d
	}
	return sorted[low]*(1-part) + sorted[low+1]*part
}
