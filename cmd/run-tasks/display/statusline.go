package display

import (
	"io"
	"strings"
	"sync"
)

// clearLine empties the line that the cursor is on (ECMA-48: CR, EL).
const clearLine = "\r\x1b[K"

// statusLine is the last line of a terminal, drawn again and again, while other lines scroll above
// it. What is written to it is that last line. Safe for concurrent use.
type statusLine struct {
	mu   sync.Mutex
	to   io.Writer
	line string
}

// Write draws the last line.
func (a *statusLine) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.line = clearLine + strings.TrimLeft(string(p), "\r")
	if _, err := io.WriteString(a.to, a.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// printAbove writes whole lines above the last one.
func (a *statusLine) printAbove(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := io.WriteString(a.to, clearLine+string(text)+a.line); err != nil {
		return 0, err
	}
	return len(text), nil
}

// close removes the last line. Lines may still be printed.
func (a *statusLine) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = io.WriteString(a.to, clearLine)
	a.line = ""
}

// aboveWriter prints what is written to it above the status line.
type aboveWriter struct{ a *statusLine }

func (l aboveWriter) Write(p []byte) (int, error) { return l.a.printAbove(p) }
