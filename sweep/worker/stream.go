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
	path    string
	file    *os.File // nil until create
	left    int64    // bytes that the file still takes
	ceiling int64
	mask    *mask // nil: no secrets
	scanner *result.Scanner
	tap     tap
	out     task.Output
	broken  bool  // by a fault of this program: nothing more is looked at
	err     error // the first error of keeping the output
}

// create makes the file, empty. Without it, the first byte does.
func (s *stream) create() (err error) {
	s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	return err
}

// Write never fails: a program must not be ended because a disk is full. What happened is in the stream's outcome.
func (s *stream) Write(p []byte) (int, error) {
	s.out.Bytes += int64(len(p))
	s.guard(func() {
		if s.mask == nil {
			s.pass(p)
		} else {
			s.pass(s.mask.hide(p))
		}
	})
	return len(p), nil
}

func (s *stream) pass(p []byte) {
	s.keep(p)
	_, _ = s.scanner.Write(p) // fails only when it is closed
	s.tap.write(p)
}

// guard keeps a fault in the reading of what a stranger wrote from ending the worker.
func (s *stream) guard(read func()) {
	if s.broken {
		return
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.broken = true
			s.fail(fmt.Errorf("fault in the worker: %v", fault))
		}
	}()
	read()
}

// keep writes to the file what fits under the ceiling, and then says that the rest is missing.
func (s *stream) keep(p []byte) {
	if s.out.Truncated || len(p) == 0 {
		return
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			s.fail(err)
			return
		}
	}
	n := min(int64(len(p)), s.left)
	written, err := s.file.Write(p[:n])
	s.left -= int64(written)
	if err == nil && n < int64(len(p)) {
		s.out.Truncated = true
		_, err = fmt.Fprintf(s.file, "\n[cut here: only the first %d bytes of this output are kept]\n", s.ceiling)
	}
	if err != nil {
		s.fail(err)
	}
}

func (s *stream) fail(err error) {
	s.out.Truncated, s.err = true, errors.Join(s.err, err)
}

// close ends the stream: what a mask or a line held back goes its way.
func (s *stream) close() error {
	s.guard(func() {
		if s.mask != nil {
			s.pass(s.mask.rest())
		}
		_ = s.scanner.Close()
		s.tap.close()
	})
	if s.file == nil {
		return s.err
	}
	if err := s.file.Close(); err != nil {
		s.fail(err)
	}
	return s.err
}
