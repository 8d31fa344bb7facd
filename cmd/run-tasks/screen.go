package main

import (
	"fmt"
	"io"
	"sync"

	"mlframework/cmd/internal/cli"
)

// screen is where messages go: standard error, or the display that has the terminal.
type screen struct {
	stderr io.Writer
	mu     sync.Mutex
	w      io.Writer // nil: stderr
}

// Write goes to standard error, too, when the display has just ended.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil {
		if n, err := s.w.Write(p); err == nil {
			return n, nil
		}
	}
	return s.stderr.Write(p)
}

// note prints a remark.
func (s *screen) note(text string) { fmt.Fprintln(s, "note: "+cli.Visible(text)) }

func (s *screen) set(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w = w
}
