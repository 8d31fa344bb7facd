package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
)

// inMemory is how many bytes a spool keeps in memory: the table of some ten thousand tasks.
const inMemory = 4 << 20

// spool sets the cells of a table aside: in memory, and from inMemory on in a temporary file, which
// has no name and is gone with the process. The zero value is empty.
type spool struct {
	memory bytes.Buffer
	file   *os.File // nil: all is in memory
	out    *bufio.Writer
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= inMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.out.Write(p)
}

// spill goes on in a file.
func (s *spool) spill() (err error) {
	if s.file, err = os.CreateTemp("", "mlframework-results-"); err != nil {
		return fmt.Errorf("set rows aside until the columns' widths are known: %w; set TMPDIR to "+
			"a folder with room, or use --csv", err)
	}
	s.out = bufio.NewWriterSize(s.file, 64<<10)
	return os.Remove(s.file.Name())
}

// Written gives back what was written.
func (s *spool) Written() (io.ReaderAt, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes()), nil
	}
	return s, s.out.Flush()
}

// ReadAt reads what was written, when some of it is in a file.
func (s *spool) ReadAt(p []byte, at int64) (n int, err error) {
	kept := int64(s.memory.Len())
	if at < kept {
		if n = copy(p, s.memory.Bytes()[at:]); n == len(p) {
			return n, nil
		}
	}
	more, err := s.file.ReadAt(p[n:], at+int64(n)-kept)
	return n + more, err
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
