package expr

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values. NaN was meant as a number and is none.
const (
	Absent Kind = iota
	Text
	Number
	NaN

	undefined // arithmetic that has no result
)

// Value is what a name stands for. The zero Value is absent.
type Value struct {
	Kind    Kind
	Boolean Boolean // of a Text; beside Kind, where it takes no memory
	Text    string  // of a Number as it was written; may be empty
	Number  float64 // may be infinite
}

// Boolean says whether a Text such as true is a boolean or text, where that is known.
type Boolean uint8

// The zero Boolean equals both others: a text of which only the word is known.
const (
	_         Boolean = iota
	IsBoolean         // equals no text in quotes
	IsText            // equals no boolean
)

// ValueOf returns the value of text that may be a number: a Number where it is a finite one, else a
// Text.
func ValueOf(text string) Value {
	if text != "" && strings.IndexByte("0123456789.+-", text[0]) >= 0 {
		v, err := strconv.ParseFloat(text, 64)
		if err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return Value{Kind: Number, Text: text, Number: v}
		}
	}
	return Value{Kind: Text, Text: text}
}

// NumberOf returns the value of a number that has no text of its own.
func NumberOf(v float64) Value {
	if math.IsNaN(v) {
		return Value{Kind: NaN, Number: v}
	}
	return Value{Kind: Number, Number: v}
}

// String returns the text of a value: "" where it is absent, "nan" for a NaN, and of a Number
// without a text the shortest decimal number that reads back as the same.
func (v Value) String() string {
	if v.Kind == Number && v.Text == "" {
		return string(v.digits(nil))
	}
	return v.known()
}

// known is the text of a value that needs no formatting.
func (v Value) known() string {
	switch v.Kind {
	case Text, Number:
		return v.Text
	case NaN:
		return "nan"
	default:
		return ""
	}
}

// digits appends the text of a number that has none.
func (v Value) digits(b []byte) []byte {
	switch {
	case math.IsInf(v.Number, 1):
		return append(b, "inf"...)
	case math.IsInf(v.Number, -1):
		return append(b, "-inf"...)
	default:
		return strconv.AppendFloat(b, v.Number, 'g', -1, 64)
	}
}

// constant reads a word of an expression that is a number: any that Go reads, inf and nan too.
func constant(word string) (Value, bool) {
	if v := ValueOf(word); v.Kind == Number {
		return v, true
	}
	v, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil && !math.IsInf(v, 0): // what is too large is infinite
		return Value{}, false
	case math.IsNaN(v):
		return Value{Kind: NaN, Number: v}, true
	default:
		return Value{Kind: Number, Text: word, Number: v}, true
	}
}

// Exact is the first number beyond which floating point does not hold every whole number.
const Exact = 1 << 53

// CompareNumbers compares two Numbers. Whole numbers beyond 2^53, such as seeds, are compared by
// their text: as floating point they would be equal.
func CompareNumbers(a, b Value) int {
	if a.Number != b.Number || math.Abs(a.Number) < Exact || a.Text == "" || b.Text == "" {
		return cmp.Compare(a.Number, b.Number)
	}
	x, y := strings.TrimLeft(a.Text, "+-0"), strings.TrimLeft(b.Text, "+-0")
	if !allDigits(x) || !allDigits(y) {
		return 0
	}
	order := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	if a.Number < 0 {
		return -order
	}
	return order
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// compareText compares the texts of two values, without allocating.
func compareText(a, b Value) int {
	var x, y [32]byte
	switch short, other := a.Kind == Number && a.Text == "", b.Kind == Number && b.Text == ""; {
	case short && other:
		return cmp.Compare(string(a.digits(x[:0])), string(b.digits(y[:0])))
	case short:
		return compareBytes(a.digits(x[:0]), b.known())
	case other:
		return -compareBytes(b.digits(y[:0]), a.known())
	default:
		return cmp.Compare(a.known(), b.known())
	}
}

func compareBytes(a []byte, b string) int {
	switch {
	case string(a) == b:
		return 0
	case string(a) < b:
		return -1
	default:
		return 1
	}
}

func (v Value) isEmpty() bool { return v.Kind == Absent || v.Kind == Text && v.Text == "" }
