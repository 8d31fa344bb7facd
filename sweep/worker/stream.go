package worker

import (
	"errors"
	"fmt"
	"os"

	"mlframework/sweep/failure"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// stream takes the output of one stream of an attempt as it comes: into its file up to the ceiling, through the metrics'
// scanner, line by line to whoever follows, and its end to where the reason of a failure is looked for. It is for one goroutine, and
// its memory is bounded.
type stream struct {
	path    string
	file    *os.File // nil until create
	left    int64    // bytes that the file still takes
	size    int64    // bytes in the file
	printed int64    // bytes
	ceiling int64
	mask    *mask // nil: no secrets
	scanner *metric.Scanner
	tap     tap
	tail    failure.Tail
	out     task.Output
	ended   bool  // the program has: what comes now is from processes that it left
	late    bool  // and some came
	broken  bool  // by a fault of this program: nothing more is looked at
	unsaid  error // why output is missing, while the file has no room to say so
	err     error // the first error of keeping the output
}

// create makes the file, empty. Without it, the first byte does.
func (s *stream) create() (err error) {
	s.file, err = createOutput(s.path)
	return err
}

// Write never fails: a program must not be ended because a disk is full. What happened is in the stream's outcome.
func (s *stream) Write(p []byte) (int, error) {
	if s.ended {
		s.guard(func() { s.keepLate(p) })
		return len(p), nil
	}
	s.printed += int64(len(p))
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
	s.tail.Add(p)
}

// said is what the program said of its failure, as find finds it in the stream's tail: on one line, with secrets hidden, and not long.
func (s *stream) said(find func(*failure.Tail) string) (line string) {
	s.guard(func() {
		if line = find(&s.tail); s.mask != nil {
			line = s.mask.whole(line) // escape sequences may have stood within a value
		}
		line = failure.Cut(line)
	})
	return line
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
	s.size += int64(written)
	if err == nil && n < int64(len(p)) {
		s.out.Truncated = true
		_, err = fmt.Fprintf(s.file, "\n[cut here: only the first %d bytes of this output are kept]\n", s.ceiling)
	}
	if err != nil {
		s.fail(err)
		s.cut(err)
	}
}

// cut marks the place behind which the file takes nothing more: behind the text where there is room for it, as in a block that
// is the file's already, else over the end of it.
func (s *stream) cut(cause error) {
	mark := fmt.Sprintf("\n[cut here: this output is not kept in full: %v]\n", rootOf(cause))
	n, err := s.file.WriteAt([]byte(mark), s.size)
	if err == nil {
		return
	}
	at := s.size + int64(n) - int64(len(mark))
	if at < 0 { // no room for it at all, yet
		_ = s.file.Truncate(s.size)
		s.unsaid = cause
		return
	}
	if _, err := s.file.WriteAt([]byte(mark), at); err == nil {
		s.size = at
	}
}

// rootOf is the last of the errors in a chain: no space left on device, without the name of the file.
func rootOf(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

func (s *stream) fail(err error) {
	if s.err == nil {
		s.out.Error = rootOf(err).Error()
	}
	s.out.Truncated, s.err = true, errors.Join(s.err, err)
}

// lateMark stands in a file before what was printed when the program had ended.
const lateMark = "\n[program exited; the output below is from processes it left running]\n"

// keepLate writes what processes print that outlive the program, below a mark. It counts nowhere: the end is told.
func (s *stream) keepLate(p []byte) {
	if !s.late {
		s.late = true
		var err error
		if s.file, err = continueOutput(s.path); err != nil {
			s.fail(err)
		}
		s.keep([]byte(lateMark))
	}
	if s.mask != nil {
		p = s.mask.hide(p)
	}
	s.keep(p)
}

// end ends the stream of the program: what a mask or a line held back goes its way. It returns the first error of keeping
// the output.
func (s *stream) end() error {
	s.guard(func() {
		if s.mask != nil {
			s.pass(s.mask.rest())
		}
		_ = s.scanner.Close()
		unread := s.scanner.Unread()
		s.out.Unread = unread[:min(len(unread), task.MostUnread)]
		s.tap.close()
	})
	s.ended = true
	if s.unsaid != nil { // there may be room now
		s.cut(s.unsaid)
	}
	if err := s.closeFile(); err != nil {
		s.fail(err)
	}
	if s.out.Bytes = s.size; s.out.Truncated {
		s.out.Printed = s.printed
	}
	return s.err
}

// close ends the stream when nobody is left who could print.
func (s *stream) close() {
	if !s.late {
		return
	}
	s.guard(func() {
		if s.mask != nil {
			s.keep(s.mask.rest())
		}
	})
	_ = s.closeFile() // what the program itself printed was kept before
}

func (s *stream) closeFile() (err error) {
	if s.file != nil {
		err = s.file.Close()
	}
	s.file = nil
	return err
}
