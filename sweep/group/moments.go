package group

import "math"

// Moments gathers the mean and the deviation of numbers in one pass, by Welford's method
// (Technometrics 4, 1962, p. 419). It is applied to the differences from the first number, so that
// the deviation of numbers that are far from zero and near to each other keeps its digits. The zero
// value has none.
type Moments struct {
	n     int64
	first float64
	mean  float64 // of the differences
	sum   float64 // of the squares of their distances from the mean
}

// Add takes a finite number.
func (m *Moments) Add(v float64) {
	if m.n == 0 {
		m.first = v
	}
	m.n++
	x := v - m.first
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.sum += d * (x - m.mean)
}

// N returns how many numbers there were.
func (m *Moments) N() int64 { return m.n }

// Mean returns the arithmetic mean; false for no numbers, and for numbers so far apart that
// floating point does not hold their difference.
func (m *Moments) Mean() (float64, bool) {
	mean := m.first + m.mean
	return mean, m.n > 0 && isFinite(mean)
}

// Deviation returns the sample standard deviation, with n-1 in the denominator; false for fewer
// than two numbers.
func (m *Moments) Deviation() (float64, bool) {
	if m.n < 2 {
		return 0, false
	}
	sd := math.Sqrt(m.sum / float64(m.n-1))
	return sd, isFinite(sd)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// confidence is that of intervals.
const confidence = 0.95

// Interval returns the 95 % interval of the mean, by Student's t; false for fewer than two numbers.
func (m *Moments) Interval() (low, high float64, ok bool) {
	return m.interval(Student(confidence, m.n))
}

// interval is that of so many standard errors on both sides.
func (m *Moments) interval(errors float64) (low, high float64, ok bool) {
	mean, _ := m.Mean()
	sd, ok := m.Deviation()
	half := errors * sd / math.Sqrt(float64(m.n))
	return mean - half, mean + half, ok && isFinite(mean) && isFinite(half)
}
