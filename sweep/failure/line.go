// Package failure finds in what a program printed the line that says why it failed, and groups
// failures that are alike. It is text from text. The worker, the API and the commands may import
// it; it imports nothing of the project.
package failure

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Line is the line that says why a program failed, of the last that it printed; "": none does. Of a
// Python traceback that is the exception, of several in a chain the last. A line that is only what
// launchers, shells and runtimes add, and a progress bar, are passed over.
func (t *Tail) Line() string { return line(linesOf(t.kept)) }

// ErrorLine is Line where that reads as an error: of a stream that is not for errors.
func (t *Tail) ErrorLine() string {
	if found := t.Line(); saysError(found) {
		return found
	}
	return ""
}

// saysError reports whether a line reads as an error, and not as one that is measured: "epoch 3
// error=0.25".
func saysError(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc(errorWords, func(word string) bool {
		_, rest, found := strings.Cut(low, word)
		value := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz_\"")
		number := strings.TrimLeft(value, "=: -")
		measured := number != value && number != "" && (isDigit(number[0]) || number[0] == '.')
		// KeyError: 1 is not a measurement
		return found && !(measured && strings.Contains(line, word))
	})
}

// errorWords tell that a line speaks of an error.
var errorWords = []string{"error", "exception", "fail", "fatal", "panic", "abort", "assert",
	"invalid", "illegal", "unknown", "unrecognized", "missing",
	"not found", "not defined", "no such", "requires an argument", "cannot", "can't", "could not",
	"couldn't", "unable", "denied", "refused", "out of memory", "interrupt"}

func linesOf(text []byte) (lines []string) {
	for part := range bytes.Lines(text) {
		lines = append(lines, untagged(clean(bytes.TrimSuffix(part, []byte("\n")))))
	}
	return lines
}

// line finds the line among lines.
func line(lines []string) string {
	t, lines, wrapped := raised(lines)
	switch {
	case t != nil:
		return t.text()
	case len(lines) == 0:
		return wrapped
	}
	if at := goPanic(lines); at >= 0 {
		return lines[at]
	}
	if message := thrown(lines); message != "" {
		return message
	}
	if n := helpAt(lines); n < len(lines) {
		if before := errorBefore(lines[:n]); before != "" {
			return before
		}
	}
	if at := failedRule(lines); at >= 0 {
		return cmp.Or(errorBefore(lines[:at]), lines[at])
	}
	if n := meaningful(lines[:len(lines)-1]); n > 0 && isJobNote(lines[len(lines)-1]) {
		if before := line(lines[:n]); saysError(before) {
			return before
		}
	}
	last := strings.Trim(lines[len(lines)-1], " │┃") // as in a box
	if found := parent(lines); found != "" {
		return found
	}
	return last
}

// raised returns the traceback of the exception that ended a program; nil: the lines that are left
// do not end with one. Wrapped is what a launcher said of a program whose own words are looked for.
func raised(lines []string) (t *traceback, left []string, wrapped string) {
	for {
		if lines = lines[:meaningful(lines)]; len(lines) == 0 {
			return nil, nil, wrapped
		}
		t, ok := lastTraceback(lines)
		if !ok || len(lines) > t.end {
			return nil, lines, wrapped
		}
		if !t.ignored && !isWrapper(t.exception) {
			return &t, lines, wrapped
		}
		if lines = lines[:t.begin]; wrapped == "" && !t.ignored {
			wrapped = t.text()
		}
	}
}

// thrown returns the message of an exception that ended a C++ program, if nothing but a shell's note
// follows it; "" if there is none. Of a message of several lines it returns the first two.
func thrown(lines []string) string {
	const what = "what():"
	at := lastOf(lines, func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line, " "), what)
	})
	if at < 1 || !strings.HasPrefix(lines[at-1], "terminate called after throwing an instance of") {
		return ""
	}
	end := at + 1
	for end < len(lines) && !isNoise(lines[end]) && !isJobNote(lines[end]) {
		end++
	}
	for _, line := range lines[end:] {
		if !isNoise(line) && !isJobNote(line) {
			return ""
		}
	}
	_, first, _ := strings.Cut(lines[at], what)
	return strings.Trim(strings.Join(append([]string{first}, lines[at+1:min(at+2, end)]...), " "),
		" ")
}

// mostDetails is how many indented lines may stand below the error that they are about.
const mostDetails = 30

// parent returns the error above the last line, which is indented; "" if there is none. The details
// may have a heading.
func parent(lines []string) string {
	for i := len(lines) - 1; i >= max(0, len(lines)-mostDetails) && lines[i] != ""; i-- {
		switch {
		case lines[i][0] == ' ':
			continue
		case i == len(lines)-1 || isNoise(lines[i]):
			return ""
		case !saysError(lines[i]) && strings.HasSuffix(lines[i], ":") && lines[i+1][0] == ' ':
			continue
		case !saysError(lines[i]):
			return ""
		case strings.HasSuffix(lines[i], ":"):
			return lines[i] + " " + strings.TrimLeft(lines[i+1], " ")
		}
		return lines[i]
	}
	return ""
}

// errorBefore returns the line that reads as an error: the last one, or the one that it belongs to.
// It returns "" if neither does.
func errorBefore(lines []string) string {
	if found := line(lines); saysError(found) {
		return found
	}
	if at := outermost(lines[:meaningful(lines)]); at >= 0 && saysError(lines[at]) {
		return lines[at]
	}
	return ""
}

// failedRule returns the index of Snakemake's last message, about a rule whose program failed; -1
// if the output ends differently. The program's own output precedes it.
func failedRule(lines []string) int {
	at := outermost(lines)
	if at >= 0 && strings.HasPrefix(lines[at], "Error in rule ") &&
		strings.HasSuffix(lines[at], ":") {
		return at
	}
	return -1
}

// outermost returns the index of the last line that is not indented, if few lines follow it; -1 if
// there is none.
func outermost(lines []string) int {
	from := max(0, len(lines)-mostDetails)
	at := lastOf(lines[from:], func(line string) bool { return line != "" && line[0] != ' ' })
	if at < 0 {
		return -1
	}
	return from + at
}

// meaningful is how many lines there are up to the last that says something.
func meaningful(lines []string) int {
	for n := len(lines); n > 0; n-- {
		source := n > 1 && strings.HasPrefix(lines[n-1], " ") && isWarning(lines[n-2])
		removed := n > 1 && strings.HasPrefix(lines[n-2], "Removing output files of failed job ")
		if !source && !removed && !isNoise(lines[n-1]) {
			return n
		}
	}
	return 0
}

// goPanic finds the message of a Go program that panicked, which its stack trace follows; -1: there
// is none.
func goPanic(lines []string) int {
	trace := false
	for i := len(lines) - 1; i >= 0; i-- {
		switch text := lines[i]; {
		case strings.HasPrefix(text, "goroutine ") && strings.HasSuffix(text, "]:"):
			trace = true
		case strings.HasPrefix(text, "panic: "), strings.HasPrefix(text, "fatal error: "):
			if trace {
				return i
			}
			return -1
		}
	}
	return -1
}

// untagged is a line without what launchers put before each: "[rank0]: " of torchrun,
// "[1,0]<stderr>:" of mpirun, "(f pid=7) " of Ray, and the bar at the left of a group of
// exceptions.
func untagged(line string) string {
	if line == "" {
		return line
	}
	switch line[0] {
	case '[':
		tag, rest, ok := strings.Cut(line[1:], "]")
		name := strings.TrimRight(tag, "0123456789,")
		known := name == "rank" || name == "default" || name == "" && strings.Contains(tag, ",")
		if !ok || name == tag || !known {
			return line
		}
		if after, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(rest, "<stderr>"),
			"<stdout>"), ":"); ok {
			return strings.TrimPrefix(after, " ")
		}
	case '(':
		if tag, rest, ok := strings.Cut(line, ") "); ok && strings.Contains(tag, " pid=") {
			return rest
		}
	case ' ':
		text := strings.TrimLeft(line, " ")
		if rest, ok := strings.CutPrefix(text, "| "); ok {
			return rest
		}
	}
	return line
}
