package table_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// ranked are tasks in every place of the ranking, in no order.
func ranked() []table.Row {
	acc := func(v float64) metric.Final {
		return metric.Final{{Name: "loss", Value: 1},
			{Name: "acc", Value: v}}
	}
	return []table.Row{
		{ID: "failed-but-best", Index: 0, State: "failed", Metrics: acc(0.99)},
		{ID: "none", Index: 1, State: "succeeded", Metrics: metric.Final{{Name: "loss", Value: 1}}},
		{ID: "nan", Index: 2, State: "succeeded", Metrics: acc(nan)},
		{ID: "tie-later", Index: 5, State: "succeeded", Metrics: acc(0.5)},
		{ID: "tie-first", Index: 3, State: "succeeded", Metrics: acc(0.5)},
		{ID: "high", Index: 6, State: "succeeded", Metrics: acc(0.75)},
		{ID: "low", Index: 7, State: "succeeded", Metrics: acc(-1)},
		{ID: "running", Index: 4, State: "running"},
		{ID: "inf", Index: 8, State: "succeeded", Metrics: acc(inf)},
		{ID: "-inf", Index: 9, State: "succeeded", Metrics: acc(-inf)},
	}
}

func ids(rows []table.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func TestRank(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		objective string
		want      []string
	}{
		{"maximize acc", []string{"inf", "high", "tie-first", "tie-later", "low", "-inf", "nan", "none", "failed-but-best", "running"}},
		{"minimize acc", []string{"-inf", "low", "tie-first", "tie-later", "high", "inf", "nan", "none", "failed-but-best", "running"}},
		{"", []string{"failed-but-best", "none", "nan", "tie-first", "running", "tie-later", "high", "low", "inf", "-inf"}},
	} {
		o, err := metric.ParseObjective(tt.objective)
		if err != nil {
			t.Fatal(err)
		}
		if o.String() != tt.objective {
			t.Errorf("String() = %q, want %q", o.String(), tt.objective)
		}
		rows := ranked()
		if d := cmp.Diff(tt.want, ids(table.Rank(rows, o))); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.objective, d)
		}
		if d := cmp.Diff(ranked(), rows, sameNaN); d != "" {
			t.Errorf("%q changed its input:\n%s", tt.objective, d)
		}
	}
}

func TestNoMetrics(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]string{"none"}, ids(table.NoMetrics(ranked(),
		metric.Objective{Metric: "acc"}))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := table.NoMetrics(ranked(), metric.Objective{}); got != nil {
		t.Errorf("without an objective: %v", ids(got))
	}
}
