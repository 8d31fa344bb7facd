package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/analysis"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	all := func() []analysis.Result {
		return []analysis.Result{{4, 9, 2}, {1, 1, 5}, {2, 2, 7}, {3, 2, 3}, {5, 10, 2}, {6, 11, 8}}
	}
	for maximize, want := range map[bool][]int64{false: {1, 3, 4}, true: {1, 2, 6}} {
		best, some := analysis.Progress(all(), maximize, 10)
		var got []int64
		for _, r := range best {
			got = append(got, r.Index)
		}
		if d := cmp.Diff(want, got); d != "" || len(some) != 6 || some[1].Index != 2 ||
			some[3].Index != 4 {
			t.Errorf("maximize %t (-want +got):\n%s%+v", maximize, d, some)
		}
	}
	if best, some := analysis.Progress(nil, true, 10); len(best)+len(some) != 0 {
		t.Error(best, some)
	}
}

func TestThin(t *testing.T) {
	t.Parallel()
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for most, want := range map[int][]int{1: {6}, 2: {2, 6}, 3: {0, 3, 6}, 4: {0, 2, 4, 6}, 7: all,
		8: all} {
		if d := cmp.Diff(want, analysis.Thin(all, most)); d != "" {
			t.Errorf("at most %d (-want +got):\n%s", most, d)
		}
	}
	if got := analysis.Thin([]int{}, 3); len(got) != 0 {
		t.Error(got)
	}
}

// Quantiles are those of numpy.quantile([1, 2, 4, 8], [0.25, 0.5, 0.75]), and means those of numpy.mean.
func TestBands(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	curves := [][]analysis.Point{{{1, 1}, {2, 1}}, {{1, 2}, {2, inf}}, {{1, 4}, {2, nan}, {4, 3}},
		{{1, 8}}, nil}
	want := []analysis.Band{{1, 4, 1, 1.75, 3, 5, 8, 3.75}, {2, 1, 1, 1, 1, 1, 1, 1},
		{4, 1, 3, 3, 3, 3, 3, 3}}
	if d := cmp.Diff(want, analysis.Bands(curves, 10)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// the last value up to a step that stands for others
	want = []analysis.Band{{4, 4, 1, 1.75, 2.5, 4.25, 8, 3.5}}
	if d := cmp.Diff(want, analysis.Bands(curves, 1)); d != "" {
		t.Errorf("in one (-want +got):\n%s", d)
	}
	for name, none := range map[string][][]analysis.Point{"no curves": nil, "no points": {nil},
		"no numbers": {{{1, nan}, {2, inf}}}} {
		if got := analysis.Bands(none, 10); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	long := make([]analysis.Point, 100_000)
	for i := range long {
		long[i] = analysis.Point{X: float64(i), Y: float64(i)}
	}
	if got := analysis.Bands([][]analysis.Point{long, long}, 100); len(got) != 100 ||
		got[99].X != 99_999 || got[99].Curves != 2 {
		t.Errorf("%d bands, %+v", len(got), got[len(got)-1])
	}
}

// Each is there once, and the first of them are spread over all.
func TestSpread(t *testing.T) {
	t.Parallel()
	for n := range 300 {
		order := analysis.Spread(n)
		sorted := slices.Sorted(slices.Values(order))
		for i, at := range sorted {
			if i != at {
				t.Fatalf("%d: %v", n, order)
			}
		}
		if len(order) != n {
			t.Fatalf("%d: %v", n, order)
		}
	}
	first := slices.Sorted(slices.Values(analysis.Spread(10_000)[:100]))
	for i := 1; i < len(first); i++ {
		if first[i]-first[i-1] > 200 {
			t.Errorf("nothing between %d and %d", first[i-1], first[i])
		}
	}
}

// A pair that no task has stays empty; medians are those of numpy.median.
func TestGrid(t *testing.T) {
	t.Parallel()
	c := analysis.NewCollector([]string{"lr", "opt"})
	c.Add([]string{"10", "sgd"}, 1, false)
	c.Add([]string{"10", "sgd"}, 4, false)
	c.Add([]string{"9", "adam"}, 3, false)
	c.Add([]string{"9", "adam"}, math.NaN(), true)
	g := c.Grid(0, 1, 30, true)
	if !slices.Equal(g.X, []string{"9", "10"}) || !slices.Equal(g.Y, []string{"sgd", "adam"}) {
		t.Fatalf("%+v", g)
	}
	if v := g.Cells[0][1]; v.Points != 2 || v.Median != 2.5 || v.Best != 4 {
		t.Errorf("10 with sgd: %+v", v)
	}
	if v := g.Cells[1][0]; v.Points != 1 || v.Failed != 1 || v.Median != 3 {
		t.Errorf("9 with adam: %+v", v)
	}
	if v := g.Cells[0][0]; v.Points != 0 || !math.IsNaN(v.Median) {
		t.Errorf("9 with sgd: %+v", v)
	}
}
