package analysis

import (
	"math"
	"slices"
)

// Point is a value of a curve at a step. Y may be infinite or not a number.
type Point struct{ X, Y float64 }

// Band tells how the values of curves are distributed at a step. The numbers between Low and High
// are quantiles as [Quantile] has them.
type Band struct {
	X                           float64
	Curves                      int // that have a value there
	Low, P25, Median, P75, High float64
	Mean                        float64
}

// Bands returns the distribution of curves at the steps that they have, each in the order of its
// steps. Of more than most steps, some at even distances stand for those before them: a curve counts
// with its last value there. Values that are not finite do not count.
func Bands(curves [][]Point, most int) (all []Band) {
	var steps []float64
	for _, c := range curves {
		for _, p := range c {
			steps = append(steps, p.X)
		}
		if len(steps) > 1<<16 {
			steps = distinct(steps)
		}
	}
	steps = Thin(distinct(steps), most)
	values := make([][]float64, len(steps))
	for _, c := range curves {
		at, last := 0, math.NaN()
		flush := func() {
			if !math.IsNaN(last) {
				values[at] = append(values[at], last)
			}
			last = math.NaN()
		}
		for _, p := range c {
			for at < len(steps)-1 && p.X > steps[at] {
				flush()
				at++
			}
			if !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) {
				last = p.Y
			}
		}
		if len(steps) > 0 {
			flush()
		}
	}
	for i, v := range values {
		if len(v) == 0 {
			continue
		}
		slices.Sort(v)
		all = append(all, Band{X: steps[i], Curves: len(v), Low: v[0], P25: Quantile(v, 0.25),
			Median: Quantile(v, 0.5), P75: Quantile(v, 0.75), High: v[len(v)-1], Mean: mean(v)})
	}
	return all
}

// mean returns the arithmetic mean of numbers, whose sum may be too large.
func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

func distinct(steps []float64) []float64 {
	slices.Sort(steps)
	return slices.Compact(steps)
}

// Spread puts n things into an order whose beginnings are spread evenly over all of them: whoever
// stops early has a fair sample. The order is always the same.
func Spread(n int) []int {
	order := make([]int, 0, n)
	step := max(1, int(float64(n)/math.Phi))
	for gcd(step, n) > 1 {
		step++
	}
	for i, at := 0, 0; i < n; i, at = i+1, (at+step)%n {
		order = append(order, at)
	}
	return order
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
