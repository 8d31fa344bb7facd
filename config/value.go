package config

import (
	"fmt"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// place is where something was written: in a file, or under a name.
type place struct {
	name         string // of a file, a variable or a flag
	line, column int    // 0 where there are none
}

func (p place) String() string {
	text := p.name
	if p.line > 0 {
		text += fmt.Sprintf(":%d", p.line)
	}
	if p.column > 0 {
		text += fmt.Sprintf(":%d", p.column)
	}
	return text
}

// value is what was written for an option: a word, or the elements of a list.
type value struct {
	kind     Kind
	place    place
	words    []string
	elements []place // of the words, where each has one of its own
	path     string  // what messages call it within its place: "hosts"; "" when the place says it
}

// single makes a value of text: a list is taken apart at its commas. No text means as by default.
func single(o option, kind Kind, at place, path, text string) value {
	v := value{kind: kind, place: at, path: path}
	switch {
	case text == "":
	case o.list:
		v.words = host.Split(text)
	default:
		v.words = []string{text}
	}
	return v
}

// faultOf is the problem at the element's place, or at the whole value's.
func (v value) faultOf(p problem) fault.Fault {
	at, path, text := v.place, v.path, p.text
	switch {
	case p.element > 0 && p.element <= len(v.elements):
		at, path = v.elements[p.element-1], fmt.Sprintf("%s[%d]", path, p.element-1)
	case p.element > 0 && len(v.words) > 1:
		text = fmt.Sprintf("element %d: %s", p.element, text)
	}
	if path != "" {
		text = path + ": " + text
	}
	return fault.Fault{File: at.name, Line: at.line, Column: at.column, Problem: text, Remedy: p.remedy}
}
