package group_test

import (
	"math"
	"testing"

	"mlframework/sweep/group"
)

// TestMoments compares mean, deviation and interval with those of NumPy and SciPy, in
// testdata/moments.txt.
func TestMoments(t *testing.T) {
	t.Parallel()
	for _, line := range readTable(t, "testdata/moments.txt") {
		var m group.Moments
		for _, v := range line[5:] {
			m.Add(v)
		}
		if got, ok := m.Mean(); !ok || !near(got, line[1]) || m.N() != int64(line[0]) {
			t.Errorf("%v: n %d, mean %.17g, want %.17g", line[5:], m.N(), got, line[1])
		}
		got, ok := m.Deviation()
		if ok != (m.N() > 1) || ok && !near(got, line[2]) {
			t.Errorf("%v: deviation %.17g (%t), want %.17g", line[5:], got, ok, line[2])
		}
		low, high, ok := m.Interval()
		if ok != (m.N() > 1) || ok && (!near(low, line[3]) || !near(high, line[4])) {
			t.Errorf("%v: interval %.17g to %.17g (%t), want %.17g to %.17g", line[5:], low, high,
				ok, line[3], line[4])
		}
	}
}

// Numbers whose difference is infinite have neither a mean nor a deviation, which is better than a
// wrong one.
func TestMomentsBeyondFloatingPoint(t *testing.T) {
	t.Parallel()
	var m group.Moments
	m.Add(math.MaxFloat64)
	m.Add(-math.MaxFloat64)
	if v, ok := m.Mean(); ok {
		t.Errorf("mean %v", v)
	}
	if v, ok := m.Deviation(); ok {
		t.Errorf("deviation %v", v)
	}
}
