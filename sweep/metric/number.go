package metric

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// thousands matches numbers with commas between thousands.
var thousands = regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$`)

// ParseNumber reads a number in Go's syntax, as a Scanner does, spaces around it aside; ok is false
// where the text is none. The dot or comma that ends a sentence is no part of it, nor are a percent
// sign and commas between thousands: 1,234.5 is 1234.5, and 95.2% is 95.2. What is too large for
// floating point is infinite; nan is NaN: not a number, but meant as one.
func ParseNumber(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) { // where it is infinite, it was out of range
		text = strings.TrimRight(text, ".,")
		text = strings.TrimRight(strings.TrimSuffix(text, "%"), " ")
		if thousands.MatchString(text) {
			text = strings.ReplaceAll(text, ",", "")
		}
		v, err = strconv.ParseFloat(text, 64)
	}
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}
