package config

import (
	"fmt"
	"path/filepath"
	"strings"

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

// text sets the words from one text: a list is split at its commas. No text is the default.
func (v value) text(list bool, text string) value {
	switch {
	case text == "":
	case list:
		v.words = host.Split(text)
	default:
		v.words = []string{text}
	}
	return v
}

// fault is the problem at the element's place, or at the whole value's.
func (v value) fault(p problem) fault.Fault {
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
	return fault.Fault{
		File: at.name, Line: at.line, Column: at.column, Problem: text, Remedy: p.remedy,
	}
}

// folders are what paths on this machine are relative to.
type folders struct {
	dir  string // the file's own folder
	home string // for a leading ~/; "" leaves that as it is
}

// resolve makes a path of the file one that can be opened from the current folder.
func (f folders) resolve(path string) string {
	below, isHome := strings.CutPrefix(filepath.ToSlash(path), "~/")
	switch {
	case path == "":
		return ""
	case isHome && f.home != "":
		return filepath.Join(f.home, below)
	case isHome || filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(f.dir, path)
}

// relative is the opposite of resolve. A path that has no relation to the file's folder is made
// absolute.
func (f folders) relative(path string) string {
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~/") {
		return path
	}
	dir, err1 := filepath.Abs(f.dir)
	full, err2 := filepath.Abs(path)
	if err1 != nil || err2 != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, full); err == nil {
		return rel
	}
	return full
}
