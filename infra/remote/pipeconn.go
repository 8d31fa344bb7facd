package remote

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// linger is how long a connection that was closed may still send what was written before.
const linger = 5 * time.Second

// stream is a net.Conn over two directions that know neither deadlines nor a Close that does not
// wait: channels of ssh. Two pipes in between give it both.
type stream struct {
	in, out net.Conn // the user's ends
	// the other ends: what comes from the host is written to got, what goes there is read from sent
	got, sent net.Conn
	peer      net.Addr
	abort     func() // lets go of both directions; never blocks for long

	once    sync.Once
	flushed chan struct{} // closed when nothing is read from sent any more

	mu     sync.Mutex
	closed bool
	err    error // why reading ended; nil: EOF
}

func newStream(peer net.Addr, abort func()) *stream {
	s := &stream{peer: peer, abort: abort, flushed: make(chan struct{})}
	s.in, s.got = net.Pipe()
	s.out, s.sent = net.Pipe()
	s.sent = &noticed{Conn: s.sent, end: sync.OnceFunc(func() { close(s.flushed) })}
	return s
}

// noticed tells when it is read no more.
type noticed struct {
	net.Conn
	end func()
}

func (n *noticed) Read(p []byte) (int, error) {
	k, err := n.Conn.Read(p)
	if err != nil {
		n.end()
	}
	return k, err
}

func (n *noticed) Close() error {
	n.end()
	return n.Conn.Close()
}

// end is called once, when nothing more comes: nil is a good end.
func (s *stream) end(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.got.Close()
}

// fails says why what is written goes nowhere any more, where that is known.
func (s *stream) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// abandon lets go of a stream that nobody got.
func (s *stream) abandon() {
	s.in.Close()
	s.out.Close()
	s.end(nil)
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	return n, s.explain(err, io.EOF)
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	return n, s.explain(err, syscall.EPIPE)
}

// explain says why a pipe ended; ended is what it is called when the host ended it, and well.
func (s *stream) explain(err, ended error) error {
	if err == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return net.ErrClosed
	case s.err != nil:
		return s.err
	}
	return ended
}

// CloseWrite tells the host that nothing more comes.
func (s *stream) CloseWrite() error { return s.out.Close() }

// Close does not wait. What was written before is still sent, for a few seconds.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.in.Close()
		s.out.Close()
		go func() {
			late := time.NewTimer(linger)
			defer late.Stop()
			select {
			case <-s.flushed:
			case <-late.C:
			}
			s.abort()
		}()
	})
	return nil
}

func (s *stream) LocalAddr() net.Addr  { return address{s.peer.Network(), ""} }
func (s *stream) RemoteAddr() net.Addr { return s.peer }

func (s *stream) SetReadDeadline(t time.Time) error  { return s.in.SetReadDeadline(t) }
func (s *stream) SetWriteDeadline(t time.Time) error { return s.out.SetWriteDeadline(t) }
func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.in.SetReadDeadline(t), s.out.SetWriteDeadline(t))
}

// address is one on a host.
type address struct{ network, name string }

func (a address) Network() string { return a.network }
func (a address) String() string  { return a.name }
