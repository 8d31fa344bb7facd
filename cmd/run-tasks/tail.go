package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
)

// tail copies a file that may not be there yet, may grow, and may be replaced by that of another attempt.
type tail struct {
	path string
	file *os.File
	to   io.Writer // nil: nothing is copied
	from int64     // of the first file: where to begin
}

// copy writes what is new.
func (t *tail) copy() error {
	for t.to != nil {
		if t.file != nil {
			replaced := t.replaced() // before reading: what stands there now is all of the old file
			if _, err := io.Copy(t.to, t.file); err != nil || !replaced {
				return err
			}
			t.close()
		}
		f, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := f.Seek(t.from, io.SeekStart); err != nil {
			_ = f.Close()
			return err
		}
		t.file, t.from = f, 0
	}
	return nil
}

// replaced tells whether another file has the name now.
func (t *tail) replaced() bool {
	now, err := os.Stat(t.path)
	if err != nil {
		return false
	}
	old, err := t.file.Stat()
	return err == nil && !os.SameFile(old, now)
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// visibly is where output goes: made visible on a terminal, as it is everywhere else.
func visibly(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &visible{to: f}
}

// visible makes output visible that comes in pieces: a character that is cut waits for its other half.
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
