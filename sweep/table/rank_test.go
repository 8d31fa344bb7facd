package table_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// ranked returns tasks in every place of the ranking, in no order.
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
		text string
		o    metric.Objective
		want []string
	}{
		{"maximize acc", metric.Objective{Metric: "acc", Maximize: true},
			[]string{"inf", "high", "tie-first", "tie-later", "low", "-inf", "nan", "none",
				"failed-but-best", "running"}},
		{"minimize acc", metric.Objective{Metric: "acc"}, []string{"-inf", "low", "tie-first",
			"tie-later", "high", "inf", "nan", "none", "failed-but-best", "running"}},
		{"", metric.Objective{}, []string{"failed-but-best", "none", "nan", "tie-first", "running",
			"tie-later", "high", "low", "inf", "-inf"}},
	} {
		if tt.o.String() != tt.text {
			t.Errorf("String() = %q, want %q", tt.o.String(), tt.text)
		}
		rows := ranked()
		if d := cmp.Diff(tt.want, ids(table.Rank(rows, tt.o))); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, d)
		}
		if d := cmp.Diff(ranked(), rows, sameNaN); d != "" {
			t.Errorf("%q changed its input:\n%s", tt.text, d)
		}
	}
}
