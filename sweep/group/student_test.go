package group_test

import (
	"math"
	"testing"

	"mlframework/sweep/group"
)

// TestStudent compares quantiles with those of scipy.stats.t.ppf((1 + confidence) / 2, n - 1) of
// SciPy, in testdata/student.txt.
func TestStudent(t *testing.T) {
	t.Parallel()
	for _, line := range readTable(t, "testdata/student.txt") {
		confidence, n, want := line[0], int64(line[1]), line[2]
		if got := group.Student(confidence, n); !near(got, want) {
			t.Errorf("Student(%v, %d) = %.17g, want %.17g", confidence, n, got, want)
		}
	}
	for _, n := range []int64{-1, 0, 1} {
		if got := group.Student(0.95, n); !math.IsNaN(got) {
			t.Errorf("Student(0.95, %d) = %v, want NaN", n, got)
		}
	}
}

// near reports whether two numbers agree to 1e-9 of the wanted one.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

func BenchmarkStudent(b *testing.B) {
	for b.Loop() {
		group.Student(0.95, 5)
	}
}
