package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/analysis"
)

// On a grid, the shares are those of the main effects.
func TestEffects(t *testing.T) {
	t.Parallel()
	c := analysis.NewCollector([]string{"lr", "opt", "same"})
	// loss = 10 for lr 0.1, +1 for sgd; lr 1 fails with sgd
	for _, lr := range []string{"0.1", "0.01", "1"} {
		for _, opt := range []string{"sgd", "adam"} {
			value := map[string]float64{"0.1": 10, "0.01": 0, "1": 20}[lr]
			if opt == "sgd" {
				value++
			}
			failed := lr == "1" && opt == "sgd"
			if failed {
				value = math.NaN()
			}
			c.Add([]string{lr, opt, "x"}, value, failed)
		}
	}
	c.Add([]string{"1", "adam", "x"}, math.Inf(1), false)
	e := c.Effects(false)
	if e.Points != 5 || e.Failed != 1 || e.Without != 2 || len(e.Parameters) != 2 ||
		e.Parameters[0].Name != "lr" || e.Parameters[1].Name != "opt" {
		t.Fatalf("%+v", e)
	}
	lr := e.Parameters[0]
	if lr.Values[0].Text != "0.01" || lr.Values[2].Text != "1" || lr.Values[2].Failed != 1 ||
		lr.Values[2].Points != 1 || lr.Values[0].Best != 0 || lr.Values[0].Median != 0.5 ||
		lr.Share < 0.99 {
		t.Errorf("%+v", lr)
	}
	if opt := e.Parameters[1]; opt.Values[0].Text != "sgd" || opt.Values[0].Points != 2 {
		t.Errorf("%+v", opt)
	}
}

// Parameters with one value, and metrics with one, say nothing.
func TestEffectsOfNothing(t *testing.T) {
	t.Parallel()
	if e := analysis.NewCollector(nil).Effects(true); e.Points != 0 || e.Parameters != nil {
		t.Errorf("%+v", e)
	}
	c := analysis.NewCollector([]string{"a", "b"})
	c.Add([]string{"1", "1"}, 2, false)
	c.Add([]string{"1", "2"}, 2, false)
	e := c.Effects(true)
	if len(e.Parameters) != 1 || !math.IsNaN(e.Parameters[0].Share) {
		t.Errorf("%+v", e)
	}
	c = analysis.NewCollector([]string{"a"})
	c.Add([]string{"1"}, math.NaN(), true)
	c.Add([]string{"2"}, math.NaN(), false)
	if e := c.Effects(true); e.Points != 0 || !math.IsNaN(e.Parameters[0].Values[0].Median) ||
		!math.IsNaN(e.Parameters[0].Share) {
		t.Errorf("%+v", e)
	}
}

// Many numbers are put into ranges, in which each task is once.
func TestRanges(t *testing.T) {
	t.Parallel()
	c, r := analysis.NewCollector([]string{"lr"}), rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		v := r.Float64()
		c.Add([]string{fmt.Sprint(v)}, v, false)
	}
	e := c.Effects(true)
	var n int64
	for _, v := range e.Parameters[0].Values {
		if n += v.Points; v.Points < 100 || v.Points > 150 || !strings.Contains(v.Text, " to ") {
			t.Errorf("%+v", v)
		}
	}
	if len(e.Parameters[0].Values) != analysis.Ranges || n != 1000 {
		t.Errorf("%d ranges with %d tasks", len(e.Parameters[0].Values), n)
	}
}

const inNumpy = `
import json, sys
import numpy as np
points = json.load(sys.stdin)
y = np.array([p["y"] for p in points])
out = []
for k in range(len(points[0]["x"])):
    x = np.array([p["x"][k] for p in points])
    groups = [y[x == v] for v in sorted(set(x), key=float)]
    between = sum(len(g) * (g.mean() - y.mean()) ** 2 for g in groups)
    out.append({"share": between / ((y - y.mean()) ** 2).sum(),
                "q": [np.quantile(g, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist() for g in groups]})
json.dump(out, sys.stdout)
`

// Shares and quantiles agree with numpy's.
func TestNumpy(t *testing.T) {
	t.Parallel()
	python := slices.IndexFunc([]string{"python3", "/usr/bin/python3"}, func(p string) bool {
		return exec.Command(p, "-c", "import numpy").Run() == nil
	})
	if python < 0 {
		t.Skip("NOT TESTED: there is no numpy")
	}
	type point struct {
		X []string `json:"x"`
		Y float64  `json:"y"`
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		var points []point
		for range 50 + 200*seed {
			p := point{Y: r.NormFloat64() * math.Pow(10, float64(seed)-1)}
			for k := range 4 {
				level := r.IntN(3 + k)
				p.X = append(p.X, fmt.Sprint(float64(level)/10))
				p.Y += float64(level * k)
			}
			points = append(points, p)
		}
		in, err := json.Marshal(points)
		if err != nil {
			t.Fatal(err)
		}
		numpy := exec.Command([]string{"python3", "/usr/bin/python3"}[python], "-c", inNumpy)
		numpy.Stdin = strings.NewReader(string(in))
		out, err := numpy.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []struct {
			Share float64
			Q     [][]float64
		}
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatal(err)
		}
		names := []string{"0", "1", "2", "3"}
		c := analysis.NewCollector(names)
		for _, p := range points {
			c.Add(p.X, p.Y, false)
		}
		for _, got := range c.Effects(true).Parameters {
			w := want[slices.Index(names, got.Name)]
			if math.Abs(got.Share-w.Share) > 1e-9 {
				t.Errorf("seed %d, %s: share %v, numpy says %v", seed, got.Name, got.Share, w.Share)
			}
			for i, v := range got.Values {
				for j, q := range []float64{v.P05, v.P25, v.Median, v.P75, v.P95} {
					if math.Abs(q-w.Q[i][j]) > 1e-9 {
						t.Errorf("seed %d, %s=%s: quantile %d is %v, numpy says %v", seed,
							got.Name, v.Text, j, q, w.Q[i][j])
					}
				}
			}
		}
	}
}

func BenchmarkEffects(b *testing.B) {
	for b.Loop() {
		c, r := analysis.NewCollector([]string{"a", "b", "c"}), rand.New(rand.NewPCG(1, 2))
		texts := []string{"0.1", "0.01", "0.001", "0.0001"}
		for range 100_000 {
			c.Add([]string{texts[r.IntN(4)], texts[r.IntN(3)], texts[r.IntN(2)]}, r.Float64(), false)
		}
		c.Effects(true)
	}
}
