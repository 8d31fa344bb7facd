package display

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
)

const (
	// maxHeld bounds a line in memory; what a longer one overwrites later is its rest.
	maxHeld = 64 << 10
	// maxUp bounds the lines in memory.
	maxUp = 50
)

// lastStates writes lines that a program overwrites, as progress bars do with \r, as they are at
// their end. Nested bars go to the lines below with \n, and back with escape sequences.
type lastStates struct {
	to io.Writer
	// the lines that a program can overwrite, without their ends, and the current one of them; a
	// line that was written before is nil
	lines [][]byte
	at    int
	up    int // how many lines a program went up at most
	// the last byte was \r: what follows overwrites the line, or is the \n of \r\n
	returned bool
	below    bool // the line was there before: what follows overwrites it
}

// goesUp matches what goes some lines down and comes back.
var goesUp = regexp.MustCompile("^\n{1,50}\r(?:[^\r\n\x1b]|\x1b\\[[0-9;]*[mK])*((?:\x1b\\[[0-9]*A)+)")

// moveUp matches an escape sequence that goes up (ECMA-48, CUU).
var moveUp = regexp.MustCompile("^\x1b\\[([0-9]*)A")

func (l *lastStates) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(l.lines) == 0 && !l.returned {
			whole := p
			if i := bytes.IndexAny(p, "\r\x1b"); i >= 0 {
				whole = p[:i]
			}
			whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
			if _, err := l.to.Write(whole); err != nil {
				return 0, err
			}
			p = p[len(whole):]
		}
		if len(l.lines) == 0 {
			l.lines = [][]byte{{}}
		}
		end := bytes.IndexAny(p, "\r\n\x1b")
		if end < 0 {
			end = len(p)
		}
		l.overwrite(p[:end])
		if p = p[end:]; len(p) > 0 {
			p = p[l.control(p):]
		}
		if err := l.write(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// control follows a control character, and returns how many bytes it is.
func (l *lastStates) control(p []byte) int {
	switch p[0] {
	case '\r':
		l.returned = true
		return 1
	case '\n':
		if m := goesUp.FindSubmatch(p); m != nil {
			l.up = max(l.up, min(bytes.Count(m[1], []byte("A")), maxUp))
		}
		if l.returned {
			l.lines[l.at] = append(l.lines[l.at], '\r')
		}
		l.at, l.returned = l.at+1, false
		if l.below = l.at < len(l.lines); !l.below {
			l.lines = append(l.lines, []byte{})
		}
		return 1
	}
	m := moveUp.FindSubmatch(p)
	if m == nil {
		l.overwrite(p[:1])
		return 1
	}
	lines, err := strconv.Atoi(string(m[1]))
	if err != nil {
		lines = 1
	}
	lines = min(lines, maxUp)
	l.up = max(l.up, lines)
	for ; l.at < lines; l.at++ {
		l.lines = slices.Insert(l.lines, 0, nil)
	}
	l.at, l.returned, l.below = l.at-lines, false, true
	return len(m[0])
}

// overwrite adds to the line, or replaces it.
func (l *lastStates) overwrite(p []byte) {
	if len(p) > 0 && (l.returned || l.below) {
		l.lines[l.at], l.returned, l.below = []byte{}, false, false
	}
	l.lines[l.at] = append(l.lines[l.at], p...)
}

// write writes the lines that the program does not come back to.
func (l *lastStates) write() error {
	for l.at > l.up {
		if err := l.first("\n"); err != nil {
			return err
		}
		l.at--
	}
	if len(l.lines[l.at]) > maxHeld {
		return l.Flush()
	}
	if l.at == 0 && len(l.lines) == 1 && len(l.lines[0]) == 0 && !l.returned {
		l.lines = nil // the next lines are written as a whole
	}
	return nil
}

// first writes the first line with an end, and forgets it.
func (l *lastStates) first(end string) error {
	line := l.lines[0]
	l.lines = l.lines[1:]
	if line == nil {
		return nil
	}
	_, err := io.WriteString(l.to, string(line)+end)
	return err
}

// Flush writes the lines without an end.
func (l *lastStates) Flush() error {
	for len(l.lines) > 1 {
		if err := l.first("\n"); err != nil {
			return err
		}
	}
	l.at = 0
	if len(l.lines) == 0 {
		return nil
	}
	return l.first("")
}

// LastState returns a line without what a program has overwritten.
func LastState(line []byte) []byte {
	end := bytes.TrimRight(line, "\r")
	return line[bytes.LastIndexByte(end, '\r')+1:]
}
