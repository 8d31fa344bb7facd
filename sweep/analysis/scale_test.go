package analysis_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/analysis"
)

func TestScale(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		numbers     []float64
		logarithmic bool
		ticks       []float64
		at          map[float64]float64
	}{
		{[]float64{0, 10, nan, inf, -inf}, false, []float64{0, 5, 10}, map[float64]float64{5: 0.5}},
		{[]float64{1, 29}, false, []float64{5, 10, 15, 20, 25}, map[float64]float64{15: 0.5}},
		{[]float64{1, 100}, true, []float64{1, 10, 100}, map[float64]float64{10: 0.5}},
		{[]float64{-1, 100}, false, []float64{0, 50, 100}, map[float64]float64{-1: 0}},
		{[]float64{2}, false, []float64{1.8, 1.9, 2, 2.1, 2.2}, map[float64]float64{2: 0.5}},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, false, []float64{-1e308, 0, 1e308},
			map[float64]float64{0: 0.5, math.MaxFloat64: 1}},
	} {
		s := analysis.NewScale()
		for _, v := range c.numbers {
			s.Include(v)
		}
		s.Settle()
		if d := cmp.Diff(c.ticks, s.Ticks()); d != "" || s.Logarithmic != c.logarithmic {
			t.Errorf("%v: logarithmic %t, ticks (-want +got):\n%s", c.numbers, s.Logarithmic, d)
		}
		for v, want := range c.at {
			if got := s.At(v); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: %g is at %g, not %g", c.numbers, v, got, want)
			}
		}
	}
	s := analysis.NewScale()
	if s.Include(nan); !s.IsEmpty() {
		t.Error("a scale without numbers is not empty")
	}
	s = analysis.Scale{Low: 3, High: 3}
	if s.At(3) != 0.5 {
		t.Errorf("the only number is at %g", s.At(3))
	}
}
