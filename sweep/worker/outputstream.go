package worker

import (
	"errors"
	"fmt"
	"os"

	"mlframework/sweep/failure"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// outputStream processes the output of one stream of an attempt as it arrives: into its file up to
// the limit, through the metric scanner, line by line to followers, and its end to where the reason
// of a failure is looked for. It is for one goroutine, and its memory is bounded.
type outputStream struct {
	path string
	file *os.File // nil until create
	// bytes that the file may still take
	remaining int64
	size      int64 // bytes in the file
	// bytes printed
	printed int64
	ceiling int64
	mask    *mask // nil: no secrets
	scanner *metric.Scanner
	tap     outputTap
	tail    failure.Tail
	out     task.Output
	// the program has ended: output is now from processes that it left behind
	ended bool
	// some of that has arrived
	late bool
	// after a panic nothing more is parsed
	faulty bool
	// why output is missing, while the file has no space to say so
	unmarked error
	err      error // the first error of keeping the output
}

// create creates the file, empty. Otherwise the first byte does.
func (s *outputStream) create() (err error) {
	s.file, err = createOutput(s.path)
	return err
}

// Write never fails: a full disk must not end a program. The outcome of the stream has the errors.
func (s *outputStream) Write(p []byte) (int, error) {
	if s.ended {
		s.guard(func() { s.writeLate(p) })
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

func (s *outputStream) pass(p []byte) {
	s.writeFile(p)
	_, _ = s.scanner.Write(p) // fails only when it is closed
	s.tap.write(p)
	s.tail.Add(p)
}

// failureLine returns what the program said about its failure, as find extracts it from the tail:
// one line of limited length, with secrets masked.
func (s *outputStream) failureLine(find func(*failure.Tail) string) (line string) {
	s.guard(func() {
		if line = find(&s.tail); s.mask != nil {
			line = s.mask.hideText(line) // escape sequences may have stood within a value
		}
		line = failure.Cut(line)
	})
	return line
}

// guard contains panics while parsing untrusted output, so that they cannot end the worker.
func (s *outputStream) guard(read func()) {
	if s.faulty {
		return
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.faulty = true
			s.fail(fmt.Errorf("fault in the worker: %v", fault))
		}
	}()
	read()
}

// writeFile writes to the file what fits within the limit, and then a mark that the rest is
// missing.
func (s *outputStream) writeFile(p []byte) {
	if s.out.Truncated || len(p) == 0 {
		return
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			s.fail(err)
			return
		}
	}
	n := min(int64(len(p)), s.remaining)
	written, err := s.file.Write(p[:n])
	s.remaining -= int64(written)
	s.size += int64(written)
	if err == nil && n < int64(len(p)) {
		s.out.Truncated = true
		_, err = fmt.Fprintf(s.file,
			cutMarker+"only the first %d bytes of this output are kept]\n", s.ceiling)
	}
	if err != nil {
		s.fail(err)
		s.cut(err)
	}
}

// cut marks where the file ends early: after the text if there is space, as in a block that the
// file already has, else over its end.
func (s *outputStream) cut(cause error) {
	mark := fmt.Sprintf(cutMarker+"this output is not kept in full: %v]\n", rootOf(cause))
	n, err := s.file.WriteAt([]byte(mark), s.size)
	if err == nil {
		return
	}
	at := s.size + int64(n) - int64(len(mark))
	if at < 0 { // no room for it at all, yet
		_ = s.file.Truncate(s.size)
		s.unmarked = cause
		return
	}
	if _, err := s.file.WriteAt([]byte(mark), at); err == nil {
		s.size = at
	}
}

// rootOf returns the innermost error of a chain: "no space left on device", without the name of the
// file.
func rootOf(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

func (s *outputStream) fail(err error) {
	if s.err == nil {
		s.out.Error = rootOf(err).Error()
	}
	s.out.Truncated, s.err = true, errors.Join(s.err, err)
}

// cutMarker begins the line that ends a file of which the rest is missing: "\n[cut here: WHY]\n".
const cutMarker = "\n[cut here: "

// lateMarker separates what was printed after the program had ended.
const lateMarker = "\n[program exited; the output below is from processes it left running]\n"

// writeLate writes the output of processes that outlive the program below a marker. It does not
// count: the outcome has been reported.
func (s *outputStream) writeLate(p []byte) {
	if !s.late {
		s.late = true
		var err error
		if s.file, err = continueOutput(s.path); err != nil {
			s.fail(err)
		}
		s.writeFile([]byte(lateMarker))
	}
	if s.mask != nil {
		p = s.mask.hide(p)
	}
	s.writeFile(p)
}

// end ends the program's stream and processes what a mask or an incomplete line held back. It
// returns the first error of keeping the output.
func (s *outputStream) end() error {
	s.guard(func() {
		if s.mask != nil {
			s.pass(s.mask.flush())
		}
		_ = s.scanner.Close()
		unread := s.scanner.Unread()
		s.out.Unread = unread[:min(len(unread), task.MaxUnread)]
		s.tap.close()
	})
	s.ended = true
	if s.unmarked != nil { // there may be room now
		s.cut(s.unmarked)
	}
	if err := s.closeFile(); err != nil {
		s.fail(err)
	}
	if s.out.Bytes = s.size; s.out.Truncated {
		s.out.Printed = s.printed
	}
	return s.err
}

// close ends the stream once no process is left that could print.
func (s *outputStream) close() {
	if !s.late {
		return
	}
	s.guard(func() {
		if s.mask != nil {
			s.writeFile(s.mask.flush())
		}
	})
	_ = s.closeFile() // what the program itself printed was kept before
}

func (s *outputStream) closeFile() (err error) {
	if s.file != nil {
		err = s.file.Close()
	}
	s.file = nil
	return err
}
