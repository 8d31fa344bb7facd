package display

import (
	"bytes"
	"io"
)

// maxHeld bounds a line in memory; what a longer one overwrites later is its rest.
const maxHeld = 64 << 10

// lastStates writes lines that a program overwrites, as progress bars do with \r, as they are at
// their end.
type lastStates struct {
	to io.Writer
	// the line without its end
	line []byte
	// the last byte was \r: what follows overwrites line, or is the \n of \r\n
	returned bool
}

func (l *lastStates) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(l.line) == 0 && !l.returned {
			whole := p
			if i := bytes.IndexByte(p, '\r'); i >= 0 {
				whole = p[:i]
			}
			whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
			if _, err := l.to.Write(whole); err != nil {
				return 0, err
			}
			p = p[len(whole):]
		}
		end := bytes.IndexAny(p, "\r\n")
		l.overwrite(p[:max(end, 0)])
		switch {
		case end < 0:
			l.overwrite(p)
			p = nil
		case p[end] == '\r':
			l.returned, p = true, p[end+1:]
			continue
		default:
			if l.returned {
				l.line = append(l.line, '\r')
			}
			l.line, l.returned, p = append(l.line, '\n'), false, p[end+1:]
		}
		if end >= 0 || len(l.line) > maxHeld {
			if err := l.Flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// overwrite adds to the line, or replaces it after \r.
func (l *lastStates) overwrite(p []byte) {
	if len(p) > 0 && l.returned {
		l.line, l.returned = l.line[:0], false
	}
	l.line = append(l.line, p...)
}

// Flush writes a line without an end.
func (l *lastStates) Flush() error {
	_, err := l.to.Write(l.line)
	l.line = l.line[:0]
	return err
}

// LastState returns a line without what a program has overwritten.
func LastState(line []byte) []byte {
	end := bytes.TrimRight(line, "\r")
	return line[bytes.LastIndexByte(end, '\r')+1:]
}
