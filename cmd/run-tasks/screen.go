package main

import (
	"io"
	"sync"
)

// screen is where messages go: standard error, or the display that has the terminal.
type screen struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func (s *screen) set(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w = w
}
