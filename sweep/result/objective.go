package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Objective is the metric that decides which task is best. The zero value is none.
type Objective struct {
	Maximize bool   `json:"maximize"`
	Metric   string `json:"metric"`
}

// ParseObjective reads "maximize METRIC" or "minimize METRIC"; empty text is no objective.
func ParseObjective(text string) (Objective, error) {
	if strings.TrimSpace(text) == "" {
		return Objective{}, nil
	}
	direction, metric, _ := strings.Cut(strings.TrimSpace(text), " ")
	metric = strings.TrimSpace(metric)
	if direction != "maximize" && direction != "minimize" || metric == "" {
		return Objective{}, fmt.Errorf("objective %q: write maximize METRIC or minimize METRIC", text)
	}
	return Objective{direction == "maximize", metric}, nil
}

// IsZero reports whether there is no objective.
func (o Objective) IsZero() bool { return o.Metric == "" }

// String is "maximize accuracy", or "" for none.
func (o Objective) String() string {
	switch {
	case o.IsZero():
		return ""
	case o.Maximize:
		return "maximize " + o.Metric
	default:
		return "minimize " + o.Metric
	}
}

const succeeded = "succeeded" // the name of the state, as in sweep/task

// Places of the ranking; within the first the objective decides, then the index.
const (
	withNumber = iota
	notANumber
	withoutMetric
	notSucceeded
)

// Rank returns the rows best first: succeeded tasks by their objective, then those whose objective is not a number, then
// those that never printed it, then tasks that did not succeed. Ties, and everything without an objective, are in the
// order of index; equal ones keep their order. rows stays as it is.
func Rank(rows []Row, o Objective) []Row {
	type rank struct {
		place int
		value float64 // less is better
		row   int
	}
	ranks := make([]rank, len(rows))
	for i := range rows {
		place, value := o.place(&rows[i])
		if o.Maximize {
			value = -value
		}
		ranks[i] = rank{place, value, i}
	}
	slices.SortStableFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.value, b.value),
			cmp.Compare(rows[a.row].Index, rows[b.row].Index))
	})
	out := make([]Row, len(rows))
	for i, r := range ranks {
		out[i] = rows[r.row]
	}
	return out
}

func (o Objective) place(r *Row) (place int, value float64) {
	if o.IsZero() {
		return withNumber, 0
	}
	if r.State != succeeded {
		return notSucceeded, 0
	}
	value, printed := r.Metrics.Get(o.Metric)
	switch {
	case !printed:
		return withoutMetric, 0
	case math.IsNaN(value):
		return notANumber, 0
	default:
		return withNumber, value
	}
}

// NoMetrics returns the rows of succeeded tasks that never printed the objective; none where there is no objective. A
// value that is not a number counts as printed.
func NoMetrics(rows []Row, o Objective) []Row {
	var out []Row
	for i := range rows {
		if place, _ := o.place(&rows[i]); place == withoutMetric {
			out = append(out, rows[i])
		}
	}
	return out
}
