package monitor_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/monitor"
)

var update = flag.Bool("update", false, "write the golden files")

// Drawings are those of testdata/curves; -update draws them anew.
func TestCurves(t *testing.T) {
	t.Parallel()
	fall := func(n int, y func(x float64) float64) (all [][2]float64) {
		for i := range n {
			all = append(all, [2]float64{float64(i + 1), y(float64(i + 1))})
		}
		return all
	}
	inf, nan := math.Inf(1), math.NaN()
	for name, points := range map[string][][2]float64{
		"linear":      fall(5, func(x float64) float64 { return 1 / x }),
		"logarithmic": fall(8, func(x float64) float64 { return math.Pow(10, -x) }),
		"infinite":    {{0, 1.8}, {10, 1.5}, {20, inf}, {30, nan}, {40, 1.2}, {50, 1.1}},
		"constant":    {{1, 0.5}, {2, 0.5}},
		"huge":        {{1, -math.MaxFloat64}, {2, math.MaxFloat64}},
		"tiny":        {{1, 5e-324}, {2, 1e-323}},
		"many":        fall(2500, func(x float64) float64 { return math.Sin(x / 300) }),
	} {
		golden(t, filepath.Join("curves", name+".html"), monitor.DrawCurve("loss <b>", points))
	}
	for name, points := range map[string][][2]float64{"none": nil, "one": {{1, 1}},
		"one number": {{1, 1}, {2, nan}}, "one step": {{1, 1}, {1, 2}}} {
		if got := monitor.DrawCurve("loss", points); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// golden fails the test where a drawing is not that of a file of testdata; -update draws it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// Curves over each other are those of testdata/plots.
func TestPlots(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	flat := [][2]float64{{1, 1}, {2, 1}}
	for name, c := range map[string]struct {
		labels []string
		curves [][][2]float64
	}{
		"two":      {[]string{"3", "17"}, [][][2]float64{{{1, 2}, {2, 1}}, {{1, 3}, {2, 2}, {3, 1.5}}}},
		"alike":    {[]string{"1", "2", "3."}, [][][2]float64{flat, flat, flat}},
		"one-ends": {[]string{"1", "2."}, [][][2]float64{{{1, 1}, {5, 4}}, {{1, 2}}}},
		"infinite": {[]string{"1", "2", "3"}, [][][2]float64{{{1, 1}, {2, inf}, {3, 2}},
			{{1, nan}, {2, nan}}, nil}},
	} {
		golden(t, filepath.Join("plots", name+".html"), monitor.DrawPlot(c.labels, c.curves))
	}
	for name, curves := range map[string][][][2]float64{"none": nil, "no points": {nil},
		"no number": {{{1, nan}, {2, inf}}}, "one step": {{{1, 1}}}} {
		if got := monitor.DrawPlot([]string{"1"}, curves); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
