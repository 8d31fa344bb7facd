package display

import (
	"fmt"
	"io"
	"sync"

	"mlframework/cmd/internal/cli"
)

// Messages writes messages to standard error, or to the display that has the terminal.
type Messages struct {
	Stderr io.Writer
	mu     sync.Mutex
	w      io.Writer // nil: stderr
}

// Write goes to standard error, too, when the display has just ended.
func (s *Messages) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil {
		if n, err := s.w.Write(p); err == nil {
			return n, nil
		}
	}
	return s.Stderr.Write(p)
}

// Note prints a remark.
func (s *Messages) Note(text string) { fmt.Fprintln(s, "note: "+cli.Visible(text)) }

func (s *Messages) Redirect(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w = w
}
