// Package reader reads numbers from files that programs write: columns of CSV, keys of JSON and of
// JSON lines, and scalars of TensorBoard's event files.
//
// A [Reader] takes a file as it grows, cut anywhere, in bounded memory; metric/tail follows the
// files of a task's folder. The package is pure.
package reader

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"mlframework/sweep/human"
)

// Kind is how a file is read.
type Kind string

// The kinds of files.
const (
	CSV Kind = "csv" // names are columns
	// names are keys, with dots between those of nested objects; one document, or a document on
	// each line
	JSON   Kind = "json"
	Events Kind = "events" // names are tags
)

// Reader takes a file.
type Reader interface {
	// Write takes what follows in the file. It never fails.
	Write(p []byte) (int, error)
	// Close looks at what has no line end yet. Where a program did not exit by itself, it may be a
	// part of what it was to be: 0.12 of 0.125, or 1.5 of 1.5e-05.
	Close(exited bool)
	// IsDocument reports whether the file is one document, which is written anew when it changes,
	// and not only added to.
	IsDocument() bool
	// Forget drops the problems, names and steps so far: the rest was written by another program.
	Forget()
	// Problems are what could not be read and why, for people.
	Problems() []string
}

// New returns a reader that calls found for each number of the names, by their places. What
// problems quote from the file, hide may change: it sees each text before it is cut. It is nil
// where nothing is hidden.
func New(kind Kind, names []string, hide func(string) string,
	found func(name int, value float64, step *int64)) Reader {
	c := common{names: names, hide: hide, emit: found, seen: make([]bool, len(names))}
	switch kind {
	case CSV:
		return &csvReader{common: c}
	case JSON:
		return &jsonReader{common: c}
	default:
		return &eventReader{common: c}
	}
}

// Bounds of what is kept for messages.
const (
	maxProblems = 5
	maxNames    = 20
	longestName = 60
)

// common is what all readers have.
type common struct {
	names    []string
	hide     func(string) string
	emit     func(int, float64, *int64)
	seen     []bool // by name
	problems []string
	others   []string // names that the file has
	more     bool     // and more than those
	nans     int      // numbers that are none
	step     *int64   // the last
	dead     bool     // nothing more is looked at
}

func (c *common) problem(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

func (c *common) Forget() {
	clear(c.seen)
	c.problems, c.others, c.more, c.nans, c.step = nil, nil, false, 0, nil
}

// give passes a number on; at says where it stands.
func (c *common) give(name int, value float64, step *int64, at string) {
	c.seen[name] = true
	if math.IsNaN(value) {
		if c.nans++; c.nans == 1 {
			c.problem("%s of %s is not a number (nan)", quote(c.names[name]), at)
		}
	}
	c.emit(name, value, step)
}

// steps notes when they go back.
func (c *common) steps(step *int64, at string) {
	if step != nil && c.step != nil && *step < *c.step && !c.backwards() {
		c.problem("steps go back at %s, from %d to %d; all values count", at, *c.step, *step)
	}
	if step != nil {
		c.step = step
	}
}

func (c *common) backwards() bool {
	return slices.ContainsFunc(c.problems, func(p string) bool {
		return strings.HasPrefix(p, "steps go back")
	})
}

// noteName notes a name that the file has.
func (c *common) noteName(name string) {
	switch {
	case slices.Contains(c.others, name):
	case len(c.others) == maxNames:
		c.more = true
	default:
		c.others = append(c.others, strings.Clone(name))
	}
}

// Problems adds to the problems the names that were never there.
func (c *common) missing(what string) []string {
	all := slices.Clone(c.problems)
	if c.dead {
		return all
	}
	for i, seen := range c.seen {
		if seen {
			continue
		}
		text := fmt.Sprintf("has no %s %s", what, quote(c.names[i]))
		var there []string
		for _, o := range c.others {
			there = append(there, c.masked(o))
		}
		if len(there) > 0 {
			text += "; it has " + strings.Join(there, ", ")
			if c.more {
				text += " and more"
			}
		}
		all = append(all, text)
	}
	return all
}

// masked returns a text of the file as messages have it. It is cut after it was hidden: the part of
// a secret is not found.
func (c *common) masked(text string) string {
	if c.hide != nil {
		text = c.hide(text)
	}
	return human.Visible(cut(text))
}

// full reports whether no more problems are kept: nothing needs to be quoted for them.
func (c *common) full() bool { return len(c.problems) >= maxProblems }

func quote(text string) string { return `"` + human.Visible(cut(text)) + `"` }

func cut(text string) string {
	if letters := []rune(text[:min(len(text), 4*longestName)]); len(letters) > longestName {
		return string(letters[:longestName]) + "…"
	}
	return text
}

// text returns what of p is text. A file that is none ends there.
func (c *common) text(p []byte) (text []byte, end bool) {
	if c.dead {
		return nil, true
	}
	if at := bytes.IndexByte(p, 0); at >= 0 {
		return p[:at], true
	}
	return p, false
}

// endBinary ends a text file that is none.
func (c *common) endBinary(end bool, kind string) {
	if end && !c.dead {
		c.dead = true
		c.problem("is a binary file, not %s", kind)
	}
}

// lines cuts a file into lines of bounded length.
type lines struct {
	pending []byte
	cut     bool
	number  int64 // of the line under way, from 1
}

// maxLineBytes is how long a line may be; longer ones are left out.
const maxLineBytes = 1 << 20

// write calls each with every line that ended; whole tells that nothing of it is missing.
func (l *lines) write(p []byte, each func(line []byte, complete bool)) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.hold(p)
			return
		}
		l.hold(p[:end])
		l.end(each)
		p = p[end+1:]
	}
}

func (l *lines) hold(p []byte) {
	if room := maxLineBytes - len(l.pending); len(p) > room {
		p, l.cut = p[:room], true
	}
	l.pending = append(l.pending, p...)
}

func (l *lines) end(each func([]byte, bool)) {
	l.number++
	each(bytes.TrimSuffix(l.pending, []byte{'\r'}), !l.cut)
	l.pending, l.cut = l.pending[:0], false
}
