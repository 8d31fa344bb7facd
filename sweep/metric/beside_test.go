package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"mlframework/sweep/metric"
)

// What stands beside metrics is found in whatever order it comes, and whether or not each metric
// has something.
func TestWhatStandsBesideMetricsIsFound(t *testing.T) {
	t.Parallel()
	var f metric.Final
	for i := range 9 {
		m := metric.FinalValue{Name: fmt.Sprint("m", i), Value: math.NaN()}
		if i%3 > 0 {
			m.Value, m.Span = math.Inf(1), &metric.Span{Step: int64(i)}
		}
		f = append(f, m)
	}
	for name, order := range map[string]func(all []metric.FinalValue){
		"in order": func([]metric.FinalValue) {}, "reversed": slices.Reverse[[]metric.FinalValue],
		"after strangers": func(all []metric.FinalValue) { all[0].Name = "stranger" },
	} {
		spans, infinite := f.Spans(), f.Infinite()
		order(spans)
		order(infinite)
		var got metric.Final
		text, err := json.Marshal(f)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		got = got.Restored(infinite).Spanned(spans)
		for i, m := range got {
			lost := name == "after strangers" && i == 1 // what was its own is the stranger's
			if want := i%3 > 0 && !lost; (m.Span != nil) != want || math.IsInf(m.Value,
				1) != want || want && m.Span.Step != int64(i) {
				t.Errorf("%s: metric %d is %+v", name, i, m)
			}
		}
	}
}
