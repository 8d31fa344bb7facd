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
	// Timeouts has tasks ranked whose time was over, too.
	Timeouts bool `json:"timeouts,omitempty"`
}

// Ranks reports whether tasks in a state are ranked.
func (o Objective) Ranks(state string) bool {
	return !o.IsZero() && (state == succeeded || o.Timeouts && state == timedOut)
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
	return Objective{Maximize: direction == "maximize", Metric: metric}, nil
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

// Surpasses returns the best value of the objective's metric, if it is better than the one that counts.
func (o Objective) Surpasses(m Metric) (best Point, ok bool) {
	if m.Name != o.Metric || m.Span == nil || m.Span.Low == nil || m.Span.High == nil {
		return Point{}, false
	}
	if o.Maximize {
		return *m.Span.High, m.Span.High.Value > m.Value
	}
	return *m.Span.Low, m.Span.Low.Value < m.Value
}

// Names of states, as in sweep/task.
const (
	succeeded = "succeeded"
	timedOut  = "timeout"
)

// Places of the ranking; within the first the objective decides, then the index.
const (
	withNumber = iota
	notANumber
	withoutMetric
	notSucceeded
)

// Rank returns the rows best first: succeeded tasks by their objective, of which -inf is the least and inf the greatest, then those whose objective is not a number, then
// those that never printed it, then tasks that did not succeed. Ties, and everything without an objective, are in the
// order of index; equal ones keep their order. rows stays as it is.
func Rank(rows []Row, o Objective) []Row {
	byIndex := make([]int64, len(rows))
	for i := range rows {
		byIndex[i] = int64(i)
	}
	slices.SortStableFunc(byIndex, func(a, b int64) int { return cmp.Compare(rows[a].Index, rows[b].Index) })
	sorter := NewRanking(o)
	for i, at := range byIndex {
		sorter.Add(&rows[at], int64(i))
	}
	out := make([]Row, len(rows))
	for i, at := range sorter.Sorted() {
		out[i] = rows[byIndex[at]]
	}
	return out
}

func (o Objective) place(r *Row) (place int, value float64) {
	if o.IsZero() {
		return withNumber, 0
	}
	if !o.Ranks(r.State) {
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

// IsRanked reports whether a task is among those that the objective ranks: it ended well and has a number.
func (o Objective) IsRanked(r *Row) bool {
	place, _ := o.place(r)
	return !o.IsZero() && place == withNumber
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
