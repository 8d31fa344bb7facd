package amqp

import (
	"net"
	"sync"
	"time"
)

// socket is a TCP connection on which neither a write nor, without heartbeats, a read waits for
// ever. It remembers how the other side began.
type socket struct {
	net.Conn
	mu    sync.Mutex
	begin []byte // no more than maxSocketStart
	full  bool
}

const maxSocketStart = 8

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if !s.full && n > 0 { // only the one reader sets it
		s.mu.Lock()
		s.begin = append(s.begin, b[:min(n, maxSocketStart-len(s.begin))]...)
		s.full = len(s.begin) == maxSocketStart
		s.mu.Unlock()
	}
	return n, err
}

func (s *socket) answer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin
}

// Write fails when the broker takes nothing for confirmTimeout.
func (s *socket) Write(b []byte) (int, error) {
	_ = s.Conn.SetWriteDeadline(time.Now().Add(confirmTimeout))
	return s.Conn.Write(b)
}

// SetDeadline keeps a deadline for reading when the library, with the greeting over, removes all:
// the first heartbeat may never come.
func (s *socket) SetDeadline(t time.Time) error {
	if t.IsZero() {
		t = time.Now().Add(2 * heartbeat)
	}
	return s.Conn.SetReadDeadline(t)
}
