package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Skipped is a socket, a named pipe or a link to nothing: it is not part of a project.
type Skipped struct {
	Path string // in the project, slash separated
	What string // a socket
}

// skippedShown is how many paths a note names.
const skippedShown = 5

// SkippedNote names what is left out as it is not a file; "" if there is nothing.
func (m *Manifest) SkippedNote() string {
	if len(m.Skipped) == 0 {
		return ""
	}
	var all []string
	for _, s := range m.Skipped[:min(len(m.Skipped), skippedShown)] {
		all = append(all, fmt.Sprintf("%s (%s)", shown(s.Path), s.What))
	}
	text := "not files, not visible to tasks: " + strings.Join(all, ", ")
	if more := len(m.Skipped) - len(all); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// skip leaves out what is not a file and cannot matter. It is false for anything else.
func (w *walk) skip(path string, mode fs.FileMode, target string) bool {
	what := "a " + named(mode)
	switch _, err := os.Stat(w.full(path)); {
	case w.snapshot || mode&fs.ModeDevice != 0:
		return false
	case mode&fs.ModeSymlink == 0:
	case errors.Is(err, fs.ErrNotExist):
		what = "a link to " + shown(target) + ", which does not exist"
	default:
		return false
	}
	w.manifest.Skipped = append(w.manifest.Skipped, Skipped{path, what})
	return true
}
