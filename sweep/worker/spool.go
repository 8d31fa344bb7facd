package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"mlframework/sweep/task"
)

// spool is a file of events that the queue has not accepted, so that they survive the end of the
// worker. Records are appended; they stay in the file until all of them are sent. It is for one
// goroutine at a time, except for sync.
type spool struct {
	file *os.File
	// offset of the first unsent event
	head int64
	// offset at which the next event is written
	tail int64
	// events between head and tail
	count int
	dirty chan struct{}
}

// openSpool opens a spool, which it creates if needed, and cuts off an incomplete last record. The
// caller ensures that no other worker uses the file: see Acquire.
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
	if err := s.scan(); err != nil {
		return err
	}
	if s.count == 0 {
		s.tail = 0
	}
	return s.file.Truncate(s.tail)
}

// scan counts the events and finds their end.
func (s *spool) scan() error {
	return s.records(0, math.MaxInt64, func(_ []byte, end int64) bool {
		s.count++
		s.tail = end
		return true
	})
}

// records calls each with the complete records between two offsets and the offset after each, until
// it returns false.
func (s *spool) records(from, to int64, each func(line []byte, end int64) bool) error {
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), 64<<10)
	for at := from; ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if at += int64(len(line)); intact(line) && !each(line, at) {
			return nil
		}
	}
}

// add appends events and returns how many it wrote: all, or those before an error.
func (s *spool) add(events []task.Event) (written int, err error) {
	for written < len(events) {
		some := events[written:min(written+batchSize, len(events))]
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
	if _, err := s.file.WriteAt(b, s.tail); err != nil {
		return errors.Join(err, s.file.Truncate(s.tail))
	}
	s.tail += int64(len(b))
	s.count += len(events)
	select {
	case s.dirty <- struct{}{}:
	default:
	}
	return nil
}

// read returns the first events, at most batchSize. None means that the rest of the file is
// unreadable.
func (s *spool) read() (events []task.Event, err error) {
	err = s.each(func(e task.Event, _ int64) bool {
		events = append(events, e)
		return len(events) < batchSize
	})
	return events, err
}

// discard removes the first n events. If there are fewer, the rest of the file is unreadable, and
// is removed as well.
func (s *spool) discard(n int) error {
	left := n
	err := s.each(func(_ task.Event, end int64) bool {
		s.head = end
		left--
		return left > 0
	})
	if s.count -= n; s.count <= 0 || left > 0 {
		return errors.Join(err, s.clear())
	}
	return nil
}

// each calls f with the events that can be read and the offset after each, until f returns false.
func (s *spool) each(f func(e task.Event, end int64) bool) error {
	return s.records(s.head, s.tail, func(line []byte, end int64) bool {
		var e task.Event
		return json.Unmarshal(line[checksumWidth:], &e) != nil || f(e, end)
	})
}

// clear empties the file.
func (s *spool) clear() error {
	s.head, s.tail, s.count = 0, 0, 0
	return s.file.Truncate(0)
}

// syncEvery is how much may be lost when the power fails. A killed worker loses nothing that it has
// written.
const syncEvery = time.Second

// sync flushes written events to the disk until ctx ends.
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

// A record of the spool is one event on a line: the checksum of its JSON (CRC-32C, eight
// hexadecimal digits), a space, the JSON. JSON has no line ends, so that a reader finds the next
// record whatever became of the one before.

// checksumWidth is the length of the checksum and the space after it.
const checksumWidth = 9

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(b []byte, e *task.Event) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return b, err
	}
	b = append(b, checksum(text)...)
	return append(append(b, text...), '\n'), nil
}

// intact reports whether a line is a complete record.
func intact(line []byte) bool {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	return ended && len(text) > checksumWidth && bytes.HasPrefix(text,
		checksum(text[checksumWidth:]))
}

func checksum(text []byte) []byte {
	var sum [4]byte
	n := crc32.Checksum(text, castagnoli)
	sum[0], sum[1], sum[2], sum[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return append(hex.AppendEncode(make([]byte, 0, checksumWidth), sum[:]), ' ')
}
