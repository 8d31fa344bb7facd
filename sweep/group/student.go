package group

import "math"

// Student returns how many standard errors a mean of n numbers is at most away from the true one,
// with a confidence between 0 and 1: the two-sided quantile of Student's t with n-1 degrees of
// freedom. It is NaN for fewer than two numbers.
func Student(confidence float64, n int64) float64 {
	switch degrees := n - 1; {
	case degrees < 1:
		return math.NaN()
	case degrees < manyDegrees:
		return exactStudent(confidence, degrees)
	default:
		return expandedStudent(confidence, float64(degrees))
	}
}

// manyDegrees is from how many degrees of freedom on the expansion is exact: what it leaves out is
// of the order of the fifth power of their inverse.
const manyDegrees = 1000

// exactStudent halves the interval in which the angle lies until floating point has no number
// between.
func exactStudent(confidence float64, degrees int64) float64 {
	low, high := 0.0, math.Pi/2
	for {
		angle := low + (high-low)/2
		if angle <= low || angle >= high {
			return math.Sqrt(float64(degrees)) * math.Tan(angle)
		}
		if within(angle, degrees) < confidence {
			low = angle
		} else {
			high = angle
		}
	}
}

// within returns the probability that |t| is less than tan(angle) times the root of the degrees:
// Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
func within(angle float64, degrees int64) float64 {
	sin, cos := math.Sincos(angle)
	term, sum := 1.0, 0.0
	if degrees%2 == 0 {
		for k := int64(2); k <= degrees; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		return sin * sum
	}
	term = cos
	for k := int64(3); k <= degrees; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	return 2 / math.Pi * (angle + sin*sum)
}

// expandedStudent is the expansion around the normal quantile: Abramowitz and Stegun, 26.7.5.
func expandedStudent(confidence, degrees float64) float64 {
	x := math.Sqrt2 * math.Erfinv(confidence)
	y := x * x
	terms := []float64{
		x,
		x * (y + 1) / 4,
		x * ((5*y+16)*y + 3) / 96,
		x * (((3*y+19)*y+17)*y - 15) / 384,
		x * ((((79*y+776)*y+1482)*y-1920)*y - 945) / 92160,
	}
	sum, power := 0.0, 1.0
	for _, t := range terms {
		sum += t * power
		power /= degrees
	}
	return sum
}
