package worker

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"mlframework/sweep/task"
)

// spool is a file of events that the queue has not taken: what a worker has to say survives its end. Events are records
// (record.go), one behind the other; what was sent stays in the file until all of it was. It is for one goroutine at a
// time, but for sync.
type spool struct {
	file  *os.File
	from  int64   // where the first event that was not sent begins
	to    int64   // where the next event goes
	count int     // events between from and to
	ends  []int64 // where the events that were read last end
	dirty chan struct{}
}

// openSpool opens the file, and makes it when there is none. What a sudden end left of a last record is cut off. The
// caller sees to it that no other worker uses the file: see Acquire.
func openSpool(path string) (*spool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &spool{file: f, dirty: make(chan struct{}, 1)}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

func (s *spool) open() error {
	if err := s.find(); err != nil {
		return err
	}
	if s.count == 0 {
		s.to = 0
	}
	return s.file.Truncate(s.to)
}

// find counts the events and finds their end.
func (s *spool) find() error {
	r := bufio.NewReader(s.file)
	for at := int64(0); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if at += int64(len(line)); intact(line) {
			s.count++
			s.to = at
		}
	}
}

// add puts events behind the others and returns how many it wrote: all, or those before an error.
func (s *spool) add(events []task.Event) (written int, err error) {
	for written < len(events) {
		some := events[written:min(written+atOnce, len(events))]
		if err := s.write(some); err != nil {
			return written, err
		}
		written += len(some)
	}
	return written, nil
}

func (s *spool) write(events []task.Event) (err error) {
	var b []byte
	for i := range events {
		if b, err = appendRecord(b, &events[i]); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteAt(b, s.to); err != nil {
		return errors.Join(err, s.file.Truncate(s.to))
	}
	s.to += int64(len(b))
	s.count += len(events)
	select {
	case s.dirty <- struct{}{}:
	default:
	}
	return nil
}

// read returns the first events, no more than atOnce. None means that the file holds no more that can be read.
func (s *spool) read() (events []task.Event, err error) {
	s.ends = s.ends[:0]
	at := s.from
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, at, s.to-at), 64<<10)
	for len(events) < atOnce {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		at += int64(len(line))
		if e, ok := parseRecord(line); ok {
			events = append(events, e)
			s.ends = append(s.ends, at)
		}
	}
	return events, nil
}

// sent drops the first n events. Those that it was not read for are read now: they were sent from memory.
func (s *spool) sent(n int) error {
	for n > 0 {
		if len(s.ends) == 0 {
			if events, err := s.read(); len(events) == 0 {
				return errors.Join(err, s.clear())
			}
		}
		some := min(n, len(s.ends))
		s.from, s.ends = s.ends[some-1], s.ends[some:]
		s.count -= some
		n -= some
	}
	if s.count <= 0 {
		return s.clear()
	}
	return nil
}

// clear empties the file.
func (s *spool) clear() error {
	s.from, s.to, s.count, s.ends = 0, 0, 0, nil
	return s.file.Truncate(0)
}

// syncEvery is how much may be lost when the power fails. A worker that is killed loses nothing that was written.
const syncEvery = time.Second

// sync brings what was written to the disk until ctx ends.
func (s *spool) sync(ctx context.Context) {
	for {
		select {
		case <-s.dirty:
			wait(ctx, syncEvery)
			_ = s.file.Sync() // a disk that fails is told of by writes
		case <-ctx.Done():
			return
		}
	}
}

func (s *spool) close() error { return errors.Join(s.file.Sync(), s.file.Close()) }
