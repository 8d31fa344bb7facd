package space_test

import (
	"fmt"
	"slices"
	"testing"

	"mlframework/sweep/space"
)

// drawn reads which of n combinations are a sample.
func drawn(t *testing.T, n, points, seed int64) (all []string) {
	t.Helper()
	s, _, err := space.Read("p.yml",
		fmt.Appendf(nil, "a: [0, %d)\n---\nsample: %d\nseed: %d\n", n, points, seed))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pointsFrom(s, 0) {
		all = append(all, p[0].Value)
	}
	return all
}

// A sample has those points that a smaller one of the same seed has, so that a sweep can be
// extended by a larger one.
func TestSamplesAreNested(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{12, 100, 1_000_000_000_000} {
		for seed := range int64(20) {
			large := drawn(t, n, 12, seed)
			for points := int64(1); points < 12; points++ {
				small := drawn(t, n, points, seed)
				if int64(len(small)) != points {
					t.Errorf("%d of %d points, seed %d: %v", points, n, seed, small)
				}
				for _, p := range small {
					if !slices.Contains(large, p) {
						t.Errorf("%d of %d points, seed %d: %s is in %v and not in %v", points, n,
							seed, p, small, large)
					}
				}
			}
		}
	}
}

// Each combination is drawn as often as any other: chi-squared of 20 values over 4,000 samples of 5
// stays below its 99.99th percentile, 51.2 at 19 degrees of freedom (less for draws without
// repetition).
func TestSamplesAreUniform(t *testing.T) {
	t.Parallel()
	const values, points, samples = 20, 5, 4000
	count := map[string]float64{}
	for seed := range int64(samples) {
		for _, p := range drawn(t, values, points, seed) {
			count[p]++
		}
	}
	squares, expected := 0.0, float64(samples*points)/values
	for _, n := range count {
		squares += (n - expected) * (n - expected) / expected
	}
	if len(count) != values || squares > 51.2 {
		t.Errorf("chi-squared %.1f of %v", squares, count)
	}
}
