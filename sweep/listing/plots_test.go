package listing_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
)

// measured is many with a curve of accuracy for each task but the first, whose values are those of
// the task, each at a step.
func measured(t *testing.T, n int64, steps int, name string) (*listing.Archive, string) {
	t.Helper()
	folder := t.TempDir()
	id := fillStore(t, folder, n)
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sw, err := s.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	changes := core.Changes{Head: sw.Head}
	for i := int64(1); i < sw.Head.Total; i++ {
		one := core.Samples{Index: i, Attempt: 1}
		for n := range steps {
			step := int64(10 * n)
			one.Points = append(one.Points, metric.Sample{Name: name, Step: &step,
				Value: float64(i%1013) / 1013})
		}
		changes.Samples = append(changes.Samples, one)
	}
	err = s.Commit(t.Context(), &core.Rows{Sweeps: []core.SweepRows{{Seq: sw.Seq,
		Record: &sw.Record, Changes: changes}}})
	if err != nil {
		t.Fatal(err)
	}
	return &listing.Archive{Store: &s.Reader}, id
}

func TestProgressOfASweep(t *testing.T) {
	t.Parallel()
	a, id := many(t, 3000)
	p, err := a.Progress(t.Context(), id, api.PlotQuery{})
	if err != nil || p.Metric != "accuracy" || !p.Maximize || p.Tasks != 2696 || // four took no time
		!p.Began.Equal(began.Add(time.Millisecond)) || len(p.Some) > api.MaxProgress || len(p.Some) < api.MaxProgress/2 ||
		len(p.Best) == 0 {
		t.Fatalf("%v %+v", err, p)
	}
	for i, r := range p.Best[1:] {
		if before := p.Best[i]; r.Value <= before.Value || r.Seconds < before.Seconds {
			t.Errorf("%+v after %+v", r, before)
		}
	}
	if last := p.Best[len(p.Best)-1]; last.Value != 1012./1013 || last.Seconds != 1.046 {
		t.Errorf("the best is %+v", last) // task 1012 began 1.011 s after the first and took 0.035 s
	}
	p, err = a.Progress(t.Context(), id, api.PlotQuery{Where: "index < 3", Metric: "loss"})
	if err != nil || p.Tasks != 2 || p.Best[len(p.Best)-1].Index != 2 {
		t.Errorf("%v %+v", err, p)
	}
	p, err = a.Progress(t.Context(), id, api.PlotQuery{Where: "index < 0"})
	if err != nil || p.Tasks != 0 || p.Best == nil || p.Some == nil || p.Began != nil {
		t.Errorf("of no tasks: %v %+v", err, p)
	}
	for parameter, q := range map[string]api.PlotQuery{"where": {Where: "none=1"}} {
		var refused *api.Error
		if _, err := a.Progress(t.Context(), id, q); !errors.As(err, &refused) ||
			refused.Parameter != parameter {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestCurvesOfASweep(t *testing.T) {
	t.Parallel()
	a, id := measured(t, 1200, 3, "accuracy")
	c, err := a.Curves(t.Context(), id, api.PlotQuery{})
	if err != nil || c.Tasks != 1200 || c.Sampled != 500 || !c.ByStep || c.Maximize == nil ||
		!*c.Maximize || len(c.Bands) != 3 || len(c.Curves) != api.BestCurves {
		t.Fatalf("%v %+v", err, c)
	}
	if first := c.Curves[0]; first.Index != 1012 || first.State != "succeeded" ||
		len(first.X) != 3 || first.X[2] != 20 || *first.Y[2] != 1012./1013 ||
		c.Curves[1].Index != 1011 {
		t.Errorf("the best is %+v", first)
	}
	for _, b := range c.Bands {
		if b.Tasks < 499 || b.Low > 0.02 || b.High < 0.98 || math.Abs(b.Median-0.408) > 0.03 ||
			math.Abs(b.P25-0.148) > 0.03 || math.Abs(b.P75-0.704) > 0.03 {
			t.Errorf("the sample is not fair: %+v", b)
		}
	}
	c, err = a.Curves(t.Context(), id, api.PlotQuery{Where: "index <= 4"})
	if err != nil || c.Tasks != 5 || c.Sampled != 5 || c.Bands[0].Tasks != 4 || // 0 has no curve
		c.Bands[0].Median != 2.5/1013 || len(c.Curves) != 4 {
		t.Errorf("%v %+v", err, c)
	}
	c, err = a.Curves(t.Context(), id, api.PlotQuery{Metric: "loss"})
	if err != nil || c.Maximize != nil || len(c.Bands) != 0 || c.Bands == nil || c.Curves == nil {
		t.Errorf("without curves: %v %+v", err, c)
	}
}

// Of long curves fewer tasks are looked at.
func TestLongCurves(t *testing.T) {
	t.Parallel()
	a, id := measured(t, 240, 1500, "accuracy")
	c, err := a.Curves(t.Context(), id, api.PlotQuery{})
	if err != nil || c.Sampled >= 200 || c.Sampled < 25 || len(c.Bands) != api.MaxBands ||
		len(c.Curves[0].X) > api.MaxCurvePoint || c.Curves[0].X[len(c.Curves[0].X)-1] != 14990 {
		t.Errorf("%v: %d of %d tasks, %d bands", err, c.Sampled, c.Tasks, len(c.Bands))
	}
}

func TestPointsOfASweep(t *testing.T) {
	t.Parallel()
	a, id := many(t, 5000)
	p, err := a.Points(t.Context(), id, api.PlotQuery{})
	if err != nil || p.Tasks < 4500 || len(p.Indexes) != api.MaxPoints ||
		len(p.Values) != api.MaxPoints || p.Maximize == nil || len(p.Parameters) != 3 {
		t.Fatalf("%v, %d of %d", err, len(p.Indexes), p.Tasks)
	}
	best := 0
	for i, index := range p.Indexes {
		if i > 0 && index <= p.Indexes[i-1] {
			t.Fatalf("%d after %d", index, p.Indexes[i-1])
		}
		if p.Values[i] != float64(index%1013)/1013 {
			t.Fatalf("task %d has %g", index, p.Values[i])
		}
		if index%1013 >= 1003 { // 10 of 1013, of which failed ones have none
			best++
		}
	}
	row, err := a.Task(t.Context(), id, p.Indexes[1234])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Parameters {
		if want, _ := row.Row.Parameters.Get(c.Name); c.Values[c.Of[1234]] != want {
			t.Errorf("%s is %q, not %q", c.Name, c.Values[c.Of[1234]], want)
		}
	}
	if best < 36 {
		t.Errorf("%d of the best", best)
	}
	p, err = a.Points(t.Context(), id, api.PlotQuery{Where: "index < 3"})
	if err != nil || p.Tasks != 3 || len(p.Parameters[0].Values) != 1 {
		t.Errorf("%v %+v", err, p)
	}
	if p, err = a.Points(t.Context(), id, api.PlotQuery{Where: "index < 0"}); err != nil ||
		p.Indexes == nil || p.Parameters[0].Values == nil {
		t.Errorf("of no tasks: %v %+v", err, p)
	}
}
