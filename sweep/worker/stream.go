package worker

import (
	"errors"
	"fmt"
	"os"

	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// stream takes the output of one stream of an attempt as it comes: into its file up to the ceiling, through the metrics'
// scanner, and line by line to whoever follows. It is for one goroutine, and its memory is bounded.
type stream struct {
	file    *os.File
	left    int64 // bytes that the file still takes
	ceiling int64
	mask    *mask // nil: no secrets
	scanner *result.Scanner
	tap     tap
	out     task.Output
	err     error // the first error of writing the file
}

// Write never fails: a program must not be ended because a disk is full. What happened is in the stream's outcome.
func (s *stream) Write(p []byte) (int, error) {
	s.out.Bytes += int64(len(p))
	if s.mask == nil {
		s.pass(p)
	} else {
		s.pass(s.mask.hide(p))
	}
	return len(p), nil
}

func (s *stream) pass(p []byte) {
	s.keep(p)
	_, _ = s.scanner.Write(p)
	s.tap.write(p)
}

// keep writes to the file what fits under the ceiling, and then says that the rest is missing.
func (s *stream) keep(p []byte) {
	if s.out.Truncated || len(p) == 0 {
		return
	}
	n := min(int64(len(p)), s.left)
	written, err := s.file.Write(p[:n])
	s.left -= int64(written)
	if err == nil && n < int64(len(p)) {
		s.out.Truncated = true
		_, err = fmt.Fprintf(s.file, "\n[cut here: only the first %d bytes of this output are kept]\n", s.ceiling)
	}
	if err != nil {
		s.out.Truncated, s.err = true, err
	}
}

// close ends the stream: what a mask or a line held back goes its way.
func (s *stream) close() error {
	if s.mask != nil {
		s.pass(s.mask.rest())
	}
	_ = s.scanner.Close()
	s.tap.close()
	return errors.Join(s.err, s.file.Close())
}
