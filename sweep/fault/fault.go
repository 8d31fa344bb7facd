// Package fault describes what is wrong in a file that a person wrote: the place, the cause and the
// way out.
//
// Readers of parameters.yml, tasks.yml and the configuration collect every fault of a file and
// return them together. Any package may import it; it imports nothing of this project.
package fault

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one problem at one place. Line and Column count from 1; zero means that the place is the
// whole file. An argument of a command line is a file of no lines, which may have a column.
type Fault struct {
	File         string
	Line, Column int
	Problem      string // what is wrong, naming the key or value: "epoch: step is 0"
	Remedy       string // what to write instead; may be empty
}

// String is one line, "FILE:LINE:COLUMN: PROBLEM; REMEDY", or "ARGUMENT, column COLUMN: PROBLEM;
// REMEDY", without the parts that are unknown.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
		if f.Column > 0 {
			fmt.Fprintf(&b, ":%d", f.Column)
		}
	}
	if f.Line == 0 && f.Column > 0 {
		fmt.Fprintf(&b, ", column %d", f.Column)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(f.Remedy)
	}
	return b.String()
}

// List is every fault of one or more files. As an error it prints one line for each.
type List []Fault

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, f := range l {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns nil for an empty list, else the list in the order of the files' text. It changes the
// order of l.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	l.Sort()
	return l
}

// Sort puts faults in the order in which they stand in their files; faults of one place keep their
// order.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
}

// Add appends one fault.
func (l *List) Add(f Fault) { *l = append(*l, f) }

// maxQuoted is how many characters of a file's text a message repeats.
const maxQuoted = 60

// Quote returns text of a file for a message: in quotes, escaped and not too long.
func Quote(text string) string { return strconv.Quote(shorten(text)) }

// Printable returns text of a file for a message, for text that reads better without quotes.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, shorten(text))
}

func shorten(text string) string {
	count := 0
	for i := range text {
		if count == maxQuoted {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// Meant returns the remedy for a word that is none of those that are known: it names the nearest
// one, or is another remedy where none is near.
func Meant(word string, known []string, otherwise string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// Nearest returns the candidate that word was probably meant to be, or "" when none is near: at
// most a third of the letters differ, or one of two and more. A difference is a letter that is
// missing, too many, another, or swapped with its neighbor (optimal string alignment distance);
// upper and lower case are alike.
func Nearest(word string, candidates []string) string {
	w := []rune(strings.ToLower(word))
	best, bestDistance := "", math.MaxInt
	for _, c := range candidates {
		x := []rune(strings.ToLower(c))
		longer := max(len(w), len(x))
		allowed := min(bestDistance-1, max(longer/3, min(longer/2, 1)))
		if longer-min(len(w), len(x)) > allowed { // so many letters are missing
			continue
		}
		if d := distance(w, x); d <= allowed {
			best, bestDistance = c, d
		}
	}
	return best
}

func distance(x, y []rune) int {
	before, row, next := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		next[0] = i
		for j := 1; j <= len(y); j++ {
			next[j] = row[j-1]
			if x[i-1] != y[j-1] {
				next[j] = 1 + min(row[j-1], row[j], next[j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(y)]
}
