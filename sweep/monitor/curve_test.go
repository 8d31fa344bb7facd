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
		got := monitor.DrawCurve("loss <b>", points)
		file := filepath.Join("testdata", "curves", name+".html")
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
	for name, points := range map[string][][2]float64{"none": nil, "one": {{1, 1}},
		"one number": {{1, 1}, {2, nan}}, "one step": {{1, 1}, {1, 2}}} {
		if got := monitor.DrawCurve("loss", points); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
