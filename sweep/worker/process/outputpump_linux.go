package process

import (
	"io"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// buffers are for output; a program has one once it has written.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// drainTimeout limits the final reading of the pipes: a process that is not ours may hold and fill
// them.
const drainTimeout = 200 * time.Millisecond

// pump copies output from the pipes of a program to its writers. The goroutine of the run does it:
// goroutines of its own would slow down a program of a millisecond.
type pump struct {
	streams [2]stream
	buffer  *[64 << 10]byte
	// the first error of a writer
	err error
}

type stream struct {
	readEnd int
	// open while the program runs
	writeEnd int
	open     bool
	w        io.Writer
	failed   bool
}

// open creates the pipes and returns the program's descriptors 1 and 2. The reading ends stay in
// blocking mode: they are read only after poll has reported data, and only here.
func (p *pump) open(null int, stdout, stderr io.Writer) (outputs [2]int, err error) {
	outputs = [2]int{null, null}
	if outputs[0], err = p.streams[0].pipe(null, stdout); err != nil {
		return outputs, err
	}
	if stderr != nil && sameWriter(stdout, stderr) {
		outputs[1] = outputs[0]
		return outputs, nil
	}
	outputs[1], err = p.streams[1].pipe(null, stderr)
	return outputs, err
}

func (s *stream) pipe(null int, w io.Writer) (int, error) {
	if w == nil {
		return null, nil
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return -1, err
	}
	s.readEnd, s.writeEnd, s.open, s.w = ends[0], ends[1], true, w
	return s.writeEnd, nil
}

// sameWriter compares writers, whose types may not be comparable.
func sameWriter(a, b io.Writer) bool {
	return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() &&
		a == b
}

// closeWriters closes the writing ends, which this process holds until the program has ended.
// Otherwise poll would report every descriptor that a program closes on its way out, at the cost of
// a wake-up each.
func (p *pump) closeWriters() {
	for i := range p.streams {
		if s := &p.streams[i]; s.writeEnd > 0 {
			unix.Close(s.writeEnd)
			s.writeEnd = 0
		}
	}
}

func (p *pump) close() {
	p.closeWriters()
	for i := range p.streams {
		p.streams[i].close()
	}
	if p.buffer != nil {
		buffers.Put(p.buffer)
		p.buffer = nil
	}
}

func (s *stream) close() {
	if s.open {
		unix.Close(s.readEnd)
		s.open = false
	}
}

// watch adds the streams to a poll set.
func (p *pump) watch(set []unix.PollFd) {
	for i, s := range p.streams {
		set[i] = unix.PollFd{Fd: -1, Events: unix.POLLIN}
		if s.open {
			set[i].Fd = int32(s.readEnd)
		}
	}
}

// copyReady copies one piece of each stream that poll reported readable, and closes those at their
// end.
func (p *pump) copyReady(set []unix.PollFd) {
	for i := range p.streams {
		s := &p.streams[i]
		switch {
		case !s.open || set[i].Revents == 0:
		case set[i].Revents&unix.POLLIN != 0:
			p.copyOnce(s)
		default: // POLLHUP, POLLERR: the other end is closed
			s.close()
		}
	}
}

func (p *pump) copyOnce(s *stream) {
	if p.buffer == nil {
		p.buffer = buffers.Get().(*[64 << 10]byte)
	}
	n, err := unix.Read(s.readEnd, p.buffer[:])
	if err == unix.EINTR {
		return
	}
	if err != nil || n == 0 {
		s.close()
		return
	}
	if s.failed {
		return
	}
	if _, err := s.w.Write(p.buffer[:n]); err != nil {
		s.failed = true
		if p.err == nil {
			p.err = err
		}
	}
}

// drain copies what is left in the pipes after every process of the program has ended. It does not
// wait for end-of-file.
func (p *pump) drain() {
	var set [2]unix.PollFd
	for start := time.Now(); time.Since(start) < drainTimeout; {
		p.watch(set[:])
		if set[0].Fd < 0 && set[1].Fd < 0 {
			return
		}
		n, err := unix.Poll(set[:], 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		p.copyReady(set[:])
	}
}
