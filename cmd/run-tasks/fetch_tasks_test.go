package main

import (
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
)

// --top without a sweep is of the only definition whose newest sweep can be ranked.
func TestRankedSweep(t *testing.T) {
	t.Parallel()
	all := []core.Summary{{ID: "a-1", Definition: "a"}, {ID: "b-1", Definition: "b"},
		{ID: "a-2", Definition: "a"}}
	if got := newestOfEach(all); !slices.Equal(got, []string{"a-2", "b-1"}) {
		t.Errorf("the newest are %v", got)
	}
	sweep := func(id, metricName string) api.Sweep {
		s := api.Sweep{Summary: core.Summary{ID: id, Definition: id[:1]}}
		s.Record.Objective = metric.Objective{Metric: metricName}
		return s
	}
	for _, c := range []struct {
		sweeps     []api.Sweep
		want, says string
	}{
		{nil, "", "no definition has a newest sweep with an objective"},
		{[]api.Sweep{sweep("a-2", ""), sweep("b-1", "")}, "", "with an objective"},
		{[]api.Sweep{sweep("a-2", ""), sweep("b-1", "acc")}, "b-1", ""},
		{[]api.Sweep{sweep("a-2", "acc"), sweep("b-1", "acc")}, "",
			"several sweeps have an objective: a-2 and b-1"},
	} {
		got, err := onlyRanked(c.sweeps)
		if got.ID != c.want || (err == nil) != (c.says == "") ||
			err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %v; want %q, %s", got.ID, err, c.want, c.says)
		}
	}
}
