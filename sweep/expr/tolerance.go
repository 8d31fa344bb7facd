package expr

import (
	"cmp"
	"math"
	"strings"
)

// tolerance is the relative difference up to which numbers are equal where one is computed: far
// more than the rounding of a few operations, and of logarithms that differ between processors.
const tolerance = 1e-12

// isComputed reports whether a value is the result of an operator or a function.
func (n *node) isComputed() bool { return n.kind > literalNode }

// compareNumbers compares the values of two nodes, both Numbers.
func compareNumbers(m, n *node, a, b Value) int {
	switch {
	case !m.isComputed() && !n.isComputed():
		return CompareNumbers(a, b)
	case isNear(a.Number, b.Number):
		return 0
	}
	return cmp.Compare(a.Number, b.Number)
}

// isNear reports whether two numbers are equal but for rounding. Whole numbers are not rounded.
func isNear(a, b float64) bool {
	return a == b || isRounding(a-b, a, b)
}

// isRounding reports whether d, the difference of a and b or of a and a multiple of b, is no more
// than the rounding of a and b.
func isRounding(d, a, b float64) bool {
	larger := math.Abs(a)
	if size := math.Abs(b); size > larger {
		larger = size
	}
	if !(math.Abs(d) <= tolerance*larger) || math.IsInf(larger, 0) { // or d is NaN
		return false
	}
	return !isExact(a) || !isExact(b)
}

// isExact reports whether a number is whole and small enough for its neighbors to be numbers, too.
func isExact(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < Exact }

// settle returns the result of an addition: 0 where it is nothing but the rounding of both sides.
func settle(result, a, b float64) float64 {
	if isRounding(result, a, b) {
		return 0
	}
	return result
}

// remainder returns a % b, where b is not 0: 0 where a is a multiple of b but for rounding.
func remainder(a, b float64) float64 {
	rest := math.Mod(a, b)
	if size := math.Abs(rest); isRounding(min(size, math.Abs(b)-size), a, b) {
		return 0
	}
	return rest
}

// equal reports whether the values of two nodes are the same: numbers as numbers, booleans in any
// case and none that is known to be text, anything else by its text. What is absent equals only the
// empty text, and what is absent.
func equal(m, n *node, a, b Value) bool {
	switch {
	case a.Kind == Absent || b.Kind == Absent:
		return a.isEmpty() && b.isEmpty()
	case a.Kind == Number && b.Kind == Number:
		return compareNumbers(m, n, a, b) == 0
	case a.Kind == Text && b.Kind == Text:
		if x, y := m.boolean(a), n.boolean(b); x != y && x > 0 && y > 0 {
			return false
		}
		return a.Text == b.Text || !m.quoted && !n.quoted && sameBoolean(a.Text, b.Text)
	default:
		return compareText(a, b) == 0
	}
}

// boolean says whether a Text of a node is a boolean: of a literal that looks like one, the quotes.
func (n *node) boolean(v Value) Boolean {
	switch {
	case n.kind != literalNode || !isBoolean(v.Text):
		return v.Boolean
	case n.quoted:
		return IsText
	}
	return IsBoolean
}

// sameBoolean reports whether two texts are the same boolean of YAML.
func sameBoolean(a, b string) bool {
	return len(a) == len(b) && (len(a) == len("true") || len(a) == len("false")) &&
		strings.EqualFold(a, b) && isBoolean(a) && isBoolean(b)
}

// isBoolean reports whether a word is a boolean in YAML 1.2.
func isBoolean(word string) bool {
	switch word {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return true
	}
	return false
}
