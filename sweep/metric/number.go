package metric

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// thousands matches numbers with commas between thousands.
var thousands = regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$`)

// restOfNumber matches what can follow the first digits of a number.
var restOfNumber = regexp.MustCompile(`^(?:,[0-9]{3})*[0-9]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)

// numberRest is how much of the text behind a match belongs to the number that the match cuts
// short, as [0-9.]+ does in 7.5e-05. It is 0 if the two together are no number, or a word goes
// on behind them.
func numberRest(match, rest []byte) int {
	n := len(restOfNumber.Find(rest))
	if n == 0 || n < len(rest) && (isWordByte(rest[n]) || rest[n] == '.' && n+1 < len(rest) &&
		isWordByte(rest[n+1])) {
		return 0
	}
	if _, ok := ParseNumber(string(match)); !ok {
		return 0
	}
	if _, ok := ParseNumber(string(match) + string(rest[:n])); !ok {
		return 0
	}
	return n
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// ParseNumber reads a number in Go's syntax, as a Scanner does, spaces around it aside; ok is false
// where the text is none. Punctuation and brackets behind it are no part of it, nor are a percent sign
// and commas between thousands: 1,234.5 is 1234.5, and 95.2% is 95.2. What is too large for
// floating point is infinite; nan is NaN: not a number, but meant as one.
func ParseNumber(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) { // where it is infinite, it was out of range
		text = strings.TrimRight(text, ".,;:)]}")
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
