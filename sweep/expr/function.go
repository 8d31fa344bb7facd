package expr

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// function is one that an expression can call.
type function struct {
	name string
	one  func(float64) float64      // of one argument
	fold func(a, b float64) float64 // of two and more
	wide bool                       // takes negative numbers and 0
}

var functions = map[string]*function{
	"abs":   {name: "abs", one: math.Abs, wide: true},
	"log":   {name: "log", one: math.Log},
	"log2":  {name: "log2", one: math.Log2},
	"log10": {name: "log10", one: log10},
	"min":   {name: "min", fold: math.Min, wide: true},
	"max":   {name: "max", fold: math.Max, wide: true},
}

func functionNames() string { return strings.Join(slices.Sorted(maps.Keys(functions)), ", ") }

// takes says how many arguments a function has, where n is wrong; "" otherwise.
func (f *function) takes(n int) string {
	switch {
	case f.fold != nil && n < 2:
		return "at least two values"
	case f.one != nil && n != 1:
		return "one value"
	default:
		return ""
	}
}

// example is a call of the function.
func (f *function) example() string {
	if f.fold != nil {
		return f.name + "(a, b)"
	}
	return f.name + "(a)"
}

// log10 is exact for powers of ten, which math.Log10 is not for 0.1.
func log10(v float64) float64 {
	l := math.Log10(v)
	if whole := math.Round(l); math.Pow10(int(whole)) == v {
		return whole
	}
	return l
}
