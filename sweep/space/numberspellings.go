package space

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Numeral returns a text that numbers have in common when they are equal, however they are written;
// "": it is not a number.
func Numeral(text string) string {
	if _, is := Number(text); !is {
		return ""
	}
	d, problem := parseDecimal(text)
	if problem != "" {
		return ""
	}
	digits, places := d.coefficient.String(), d.places
	if whole := strings.TrimRight(digits, "0"); places > 0 {
		dropped := min(len(digits)-len(whole), places)
		digits, places = digits[:len(digits)-dropped], places-dropped
	}
	if digits == "" || d.sign() == 0 {
		return "0"
	}
	return fmt.Sprintf("%se-%d", digits, places)
}

// numeral is Numeral; "": the value is not a number.
func (v value) numeral() string {
	if v.kind != "" {
		return ""
	}
	return Numeral(v.text)
}

// spellings finds numbers of one parameter that are equal and are written in different ways.
type spellings map[string]string // the first text of a number, by its numeral

// add returns the first text of a number that was written in another way; "": there is none.
func (s spellings) add(v value) string {
	n := v.numeral()
	if n == "" {
		return ""
	}
	first, known := s[n]
	if !known {
		s[n] = v.text
	}
	if first == v.text {
		return ""
	}
	return first
}

// noteSpelling notes that two values are one number. They stay two values, as their texts are what
// programs get and what tells tasks apart.
func (r *reader) noteSpelling(at *yaml.Node, name, first, second string) {
	if first != "" {
		r.note(at, fmt.Sprintf("%s: %s and %s are one number in two spellings: both run",
			show(name), first, second), "write it in one way")
	}
}
