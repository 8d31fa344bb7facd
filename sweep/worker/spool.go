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
	// end offsets of the events that were read last
	readEnds []int64
	dirty    chan struct{}
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
			s.tail = at
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
	s.readEnds = s.readEnds[:0]
	at := s.head
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, at, s.tail-at), 64<<10)
	for len(events) < batchSize {
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
			s.readEnds = append(s.readEnds, at)
		}
	}
	return events, nil
}

// discard removes the first n events, including ones that were sent from memory and never read from
// the file.
func (s *spool) discard(n int) error {
	for n > 0 {
		if len(s.readEnds) == 0 {
			if events, err := s.read(); len(events) == 0 {
				return errors.Join(err, s.clear())
			}
		}
		some := min(n, len(s.readEnds))
		s.head, s.readEnds = s.readEnds[some-1], s.readEnds[some:]
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
	s.head, s.tail, s.count, s.readEnds = 0, 0, 0, nil
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

// parseRecord parses a line; ok is false if it is not a complete record or not understood.
func parseRecord(line []byte) (e task.Event, ok bool) {
	return e, intact(line) && json.Unmarshal(line[checksumWidth:], &e) == nil
}

func checksum(text []byte) []byte {
	var sum [4]byte
	n := crc32.Checksum(text, castagnoli)
	sum[0], sum[1], sum[2], sum[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return append(hex.AppendEncode(make([]byte, 0, checksumWidth), sum[:]), ' ')
}
