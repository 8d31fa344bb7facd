package main

import (
	"io"
	"strings"
	"sync"
)

// clear empties the line that the cursor is on (ECMA-48: CR, EL).
const clear = "\r\x1b[K"

// above is a terminal whose last line is drawn again and again, with lines scrolling above it. What is written to it is that last
// line. Safe for concurrent use.
type above struct {
	mu   sync.Mutex
	to   io.Writer
	last string
}

// Write draws the last line.
func (a *above) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = clear + strings.TrimLeft(string(p), "\r")
	if _, err := io.WriteString(a.to, a.last); err != nil {
		return 0, err
	}
	return len(p), nil
}

// print writes whole lines above the last one.
func (a *above) print(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := io.WriteString(a.to, clear+string(text)+a.last); err != nil {
		return 0, err
	}
	return len(text), nil
}

// close removes the last line. Lines may still be printed.
func (a *above) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = io.WriteString(a.to, clear)
	a.last = ""
}

// lines are what is printed above.
type lines struct{ a *above }

func (l lines) Write(p []byte) (int, error) { return l.a.print(p) }
