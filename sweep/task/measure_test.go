package task_test

import (
	"fmt"
	"math"
	"testing"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// What a document held before counts, by the rule that says which value to take.
func TestKeepValues(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		name string
		take metric.Take
		had  float64
		now  float64
		want string
	}{
		{"a better one before", metric.Max, 0.95, 0.9, "0.95 [acc] []"},
		{"a better one now", metric.Max, 0.95, 0.97, "0.97 [] []"},
		{"the same", metric.Max, 0.95, 0.95, "0.95 [] []"},
		{"a lower one before", metric.Min, 0.1, 0.2, "0.1 [acc] []"},
		{"a lower one now", metric.Min, 0.1, 0.05, "0.05 [] []"},
		{"the first", metric.First, 0.1, 0.2, "0.1 [acc] []"},
		{"the last", metric.Last, 0.1, 0.2, "0.2 [] []"},
		{"the last by default", "", 0.1, 0.2, "0.2 [] []"},
		{"no number before", metric.Max, nan, 0.2, "0.2 [] []"},
		{"no number at all", metric.First, nan, nan, "NaN [] []"},
		{"no number now", metric.Min, 0.1, nan, "0.1 [acc] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := task.Measured{Metrics: metric.Stored{{Name: "acc", Value: c.now}},
				Incomplete: []string{"acc"}}
			kept, _ := m.KeepValues(metric.Final{{Name: "acc", Value: c.had}},
				[]metric.Rule{{Name: "acc", File: "r.json", Key: "acc", Take: c.take}}, nil)
			value, _ := metric.Final(m.Metrics).Get("acc")
			if got := fmt.Sprint(value, " ", kept, " ", m.Incomplete); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A value is kept for a metric that still exists and for which no value was found. It does not
// replace a later value if the rule has changed.
func TestKeepValuesOfSameRules(t *testing.T) {
	t.Parallel()
	m := task.Measured{Metrics: metric.Stored{{Name: "a", Value: 1}, {Name: "b", Value: 1},
		{Name: "complete", Value: 1}}, Incomplete: []string{"a", "b", "gone", "new"}}
	had := metric.Final{{Name: "a", Value: 2}, {Name: "b", Value: 2}, {Name: "gone", Value: 2},
		{Name: "removed", Value: 2}, {Name: "printed", Value: 2}, {Name: "complete", Value: 2}}
	kept, gone := m.KeepValues(had, []metric.Rule{{Name: "a", Take: metric.Max},
		{Name: "new", Take: metric.Max}, {Name: "complete", Take: metric.Max}},
		func(name string) bool { return name == "removed" })
	got := fmt.Sprint(m.Metrics, kept, gone, m.Incomplete)
	if want := "[{a 2 <nil>} {b 1 <nil>} {complete 1 <nil>} {gone 2 <nil>} {printed 2 <nil>}] " +
		"[a] [gone printed] [b new]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
