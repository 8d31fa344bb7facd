package display

import (
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
)

// Width returns the number of columns of a terminal, 0 for anything else.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Output writes what programs print. Flush writes the end of what was written in pieces.
type Output interface {
	io.Writer
	Flush() error
}

// Visibly returns a writer to f that makes control characters visible on a terminal. Elsewhere,
// lines that a program overwrites are written as they are at their end.
func Visibly(f *os.File) Output {
	if !term.IsTerminal(int(f.Fd())) {
		return &lastStates{to: f}
	}
	return &visible{to: f}
}

// visible makes output visible that comes in pieces: a character that is cut waits for its other
// half.
type visible struct {
	to   io.Writer
	rest []byte
}

func (v *visible) Write(p []byte) (int, error) {
	all := append(v.rest, p...)
	whole := len(all) - cutRune(all)
	v.rest = append([]byte(nil), all[whole:]...)
	_, err := io.WriteString(v.to, cli.VisibleOutput(string(all[:whole])))
	return len(p), err
}

// Flush writes the beginning of a character at the end.
func (v *visible) Flush() error {
	_, err := io.WriteString(v.to, cli.VisibleOutput(string(v.rest)))
	v.rest = nil
	return err
}

// cutRune is how many bytes at the end are the beginning of a character.
func cutRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
