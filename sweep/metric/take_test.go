package metric_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

func TestTake(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	span := func(step int64, points ...metric.Point) *metric.Span {
		s := &metric.Span{Step: step}
		if len(points) > 0 {
			s.Low, s.High = &points[0], &points[1]
		}
		return s
	}
	for _, c := range []struct {
		take   metric.Take
		values []float64
		want   float64
		span   *metric.Span
	}{
		{"", []float64{0.5, 0.9, 0.7}, 0.7, span(3, metric.Point{Value: 0.5, Step: 1},
			metric.Point{Value: 0.9, Step: 2})},
		{metric.Last, []float64{0.5, 0.9, 0.7}, 0.7, span(3)},
		{metric.Max, []float64{0.5, 0.9, 0.7}, 0.9, span(2)},
		{metric.Max, []float64{0.9, 0.9}, 0.9, span(1)},
		{metric.Min, []float64{0.5, 0.9, 0.4}, 0.4, span(3)},
		{metric.First, []float64{0.5, 0.9}, 0.5, span(1)},
		{metric.First, []float64{nan, 0.9}, 0.9, span(2)},
		{metric.Max, []float64{nan, 0.9, nan}, 0.9, span(2)},
		{metric.Max, []float64{nan}, nan, nil},
		{metric.Max, []float64{1, math.Inf(1), nan}, math.Inf(1), span(2)},
		{"", []float64{0.9, nan}, nan, span(2)},
		{"", []float64{0.9}, 0.9, nil},
		{"", []float64{0.9, 0.9}, 0.9, span(2)},
	} {
		if c.span != nil { // no step was printed
			c.span.Of = int64(len(c.values))
			if c.span.Low != nil {
				c.span.Low.Of, c.span.High.Of = c.span.Of, c.span.Of
			}
		}
		want := metric.FinalValue{Name: "acc", Value: c.want, Span: c.span}
		for cut := range len(c.values) + 1 { // of several files, the one after the other
			var all metric.Values
			for _, part := range [][]float64{c.values[:cut], c.values[cut:]} {
				var v metric.Values
				for _, value := range part {
					v.Add(value, nil)
				}
				all.Join(v)
			}
			if d := cmp.Diff(want, all.Final("acc", c.take, 0), cmpopts.EquateNaNs()); d != "" {
				t.Errorf("take %q of %v, cut at %d: -want +got:\n%s", c.take, c.values, cut, d)
			}
		}
	}
}

// What a step is: as it was printed, also when it goes back, else the number of the value.
func TestTakeSteps(t *testing.T) {
	t.Parallel()
	var v metric.Values
	for i, value := range []float64{3, 1, 2} {
		step := int64(100 - 10*i)
		v.Add(value, &step)
	}
	if m := v.Final("loss", metric.Min, 0); m.Value != 1 || m.Span.Step != 90 || m.Span.Of != 0 ||
		m.Span.String() != "step 90" {
		t.Errorf("%v at %v", m.Value, m.Span)
	}
	v.Add(4, nil) // of another pattern
	if m := v.Final("loss", "", 0); m.Span.String() != "value 4 of 4" ||
		m.Span.Low.String() != "step 90" || m.Span.High.String() != "value 4 of 4" {
		t.Errorf("%v, %v, %v", m.Span, m.Span.Low, m.Span.High)
	}
	var one metric.Values
	step := int64(0)
	one.Add(5, &step)
	if m := one.Final("loss", "", 0); m.Span == nil || m.Span.Step != 0 {
		t.Errorf("one value with a step: %v", m.Span)
	}
}

func TestSpansAreStoredAndSent(t *testing.T) {
	t.Parallel()
	f := metric.Final{
		{Name: "acc", Value: 0.9, Span: &metric.Span{Step: 2}},
		{Name: `a "name"`, Value: math.Inf(-1), Span: &metric.Span{Step: -3,
			Low: &metric.Point{Value: math.Inf(-1), Step: -3}, High: &metric.Point{Value: 2,
				Step: 7}}},
		{Name: "plain", Value: 1},
		{Name: "place", Value: 4, Span: &metric.Span{Step: 2, Of: 6}},
		{Name: "places", Value: 4, Span: &metric.Span{Step: 2, Of: 6, Low: &metric.Point{Value: 1,
			Step: 3}, High: &metric.Point{Value: 5, Step: 1, Of: 6}}},
	}
	const want = `{"acc":0.9,"a \"name\"":-1e999,"plain":1,"place":4,"places":4}` +
		`{"acc":[2],"a \"name\"":[-3,-1e999,-3,2,7],"place":[2,6],"places":[2,1,3,5,1,6,0,6]}`
	stored := string(f.AppendStored(nil))
	if stored != want {
		t.Errorf("stored %s\nwant   %s", stored, want)
	}
	back, err := metric.AppendFinal(metric.Final{{Name: "acc", Value: 5}}, stored)
	if d := cmp.Diff(append(metric.Final{{Name: "acc", Value: 5}}, f...), back); err != nil ||
		d != "" {
		t.Errorf("%v %s", err, d)
	}
	if v, ok := metric.StoredMetric("plain")(stored); !ok || v != 1 {
		t.Errorf("plain: %v %v", v, ok)
	}
	row, err := json.Marshal(table.Row{ID: "a/1", Metrics: f})
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func([]byte, *table.Row) error{
		"ReadRow": table.ReadRow, "Unmarshal": func(b []byte,
			r *table.Row) error {
			return json.Unmarshal(b, r)
		},
	} {
		var r table.Row
		if err := read(row, &r); err != nil {
			t.Fatal(err)
		}
		steps := []int64{r.Metrics[0].Span.Step, r.Metrics[1].Span.Step}
		if !slices.Equal(steps, []int64{2, -3}) || r.Metrics[2].Span != nil ||
			*r.Metrics[4].Span != (metric.Span{Step: 2, Of: 6}) ||
			r.Metrics[4].Span.String() != "value 2 of 6" || !math.IsInf(r.Metrics[1].Value, -1) {
			t.Errorf("%s: %v of %s", name, steps, row)
		}
	}
}
