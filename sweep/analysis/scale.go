package analysis

import (
	"fmt"
	"math"
	"strconv"
)

// logarithmicFrom is how many times larger the largest of a scale's numbers is than the smallest,
// all positive, for it to be logarithmic.
const logarithmicFrom = 30

// Scale places numbers between its bounds, from 0 to 1.
type Scale struct {
	Low, High   float64
	Logarithmic bool
}

// NewScale returns a scale without numbers, to be followed by Include.
func NewScale() Scale { return Scale{Low: math.Inf(1), High: math.Inf(-1)} }

// Include widens a scale to a number. It leaves out what is infinite or not a number.
func (s *Scale) Include(v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
}

// IsEmpty reports whether a scale has no number.
func (s *Scale) IsEmpty() bool { return s.Low > s.High }

// Settle makes a scale logarithmic where its numbers are positive and far apart, and gives room to
// a scale of one number.
func (s *Scale) Settle() {
	s.Logarithmic = s.Low > 0 && s.High >= logarithmicFrom*s.Low
	if s.Low == s.High {
		room := max(math.Abs(s.Low)/10, 1e-9)
		s.Low, s.High = s.Low-room, s.High+room
	}
}

// At returns where a number of the scale is, from 0 to 1.
func (s *Scale) At(v float64) float64 {
	if s.Logarithmic {
		return math.Log(v/s.Low) / math.Log(s.High/s.Low)
	}
	if s.Low == s.High {
		return 0.5
	}
	return (v/2 - s.Low/2) / (s.High/2 - s.Low/2) // the difference of the wholes may be infinite
}

// Ticks returns up to about five round numbers of the scale.
func (s *Scale) Ticks() []float64 {
	const enough = 5
	if s.Logarithmic {
		for _, digits := range [][]float64{{1, 2, 5}, {1}} {
			if all := s.multiples(digits, 1); len(all) <= enough {
				return all
			}
		}
		decades := len(s.multiples([]float64{1}, 1))
		return s.multiples([]float64{1}, (decades+enough-1)/enough)
	}
	step := math.Pow(10, math.Floor(math.Log10(s.High/enough-s.Low/enough)))
	for _, digit := range []float64{1, 2, 5, 10} {
		if all := s.steps(digit * step); len(all) <= enough {
			return all
		}
	}
	return nil
}

func (s *Scale) steps(step float64) (all []float64) {
	for n := math.Ceil(s.Low / step); n*step <= s.High && len(all) < 100; n++ {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(n*step, 'g', 12, 64), 64)
		all = append(all, v)
	}
	return all
}

// multiples returns digits of every so many powers of ten.
func (s *Scale) multiples(digits []float64, every int) (all []float64) {
	for n := math.Floor(math.Log10(s.Low)); n <= math.Log10(s.High); n++ {
		if every > 1 && int(n)%every != 0 {
			continue
		}
		for _, digit := range digits {
			text := fmt.Sprintf("%ge%d", digit, int(n)) // as exact as it can be
			if v, _ := strconv.ParseFloat(text, 64); v >= s.Low && v <= s.High {
				all = append(all, v)
			}
		}
	}
	return all
}
