package table

import (
	"math"

	"mlframework/sweep/metric"
)

// Places of the ranking; within the first the objective decides, then the index.
const (
	withNumber = iota
	notANumber
	withoutMetric
	notSucceeded
)

func rankOf(o metric.Objective, r *Row) (place int, value float64) {
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
	place, _ := rankOf(o, r)
	return !o.IsZero() && place == withNumber
}
