package table

import (
	"cmp"
	"math"
	"slices"

	"mlframework/sweep/metric"
)

// Places of the ranking; within the first the objective decides, then the index.
const (
	withNumber = iota
	notANumber
	withoutMetric
	notSucceeded
)

// Rank returns the rows best first: succeeded tasks by their objective, of which -inf is the least
// and inf the greatest, then those whose objective is not a number, then those that never printed
// it, then tasks that did not succeed. Ties, and everything without an objective, are in the order
// of index; equal ones keep their order. rows stays as it is.
func Rank(rows []Row, o metric.Objective) []Row {
	byIndex := make([]int64, len(rows))
	for i := range rows {
		byIndex[i] = int64(i)
	}
	slices.SortStableFunc(byIndex, func(a, b int64) int {
		return cmp.Compare(rows[a].Index,
			rows[b].Index)
	})
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

func place(o metric.Objective, r *Row) (place int, value float64) {
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

// IsRanked reports whether a task is among those that the objective ranks: it ended well and has a
// number.
func IsRanked(o metric.Objective, r *Row) bool {
	place, _ := place(o, r)
	return !o.IsZero() && place == withNumber
}

// NoMetrics returns the rows of succeeded tasks that never printed the objective; none where there
// is no objective. A value that is not a number counts as printed.
func NoMetrics(rows []Row, o metric.Objective) []Row {
	var out []Row
	for i := range rows {
		if place, _ := place(o, &rows[i]); place == withoutMetric {
			out = append(out, rows[i])
		}
	}
	return out
}
