package metric

import (
	"math"
	"strconv"
	"strings"
)

// ParseNumber reads a number in Go's syntax, as a Scanner does, spaces around it aside; ok is false
// where the text is none. The dot or comma that ends a sentence is no part of it. What is too large
// for floating point is infinite; nan is NaN: not a number, but meant as one.
func ParseNumber(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) { // where it is infinite, it was out of range
		v, err = strconv.ParseFloat(strings.TrimRight(text, ".,"), 64)
	}
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}
