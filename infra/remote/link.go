package remote

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
)

// link is a connection over ssh.
type link struct {
	name   string
	facts  Facts
	client *ssh.Client
	socket *socket
	below  func() // lets go of the connection to the jump host

	alive context.Context // its cause is why it ended
	end   context.CancelCauseFunc
	once  sync.Once
}

// socket is what a connection runs over. It counts what comes in and knows when that ended.
type socket struct {
	net.Conn
	in     atomic.Int64 // bytes
	broken atomic.Bool
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.in.Add(int64(n))
	if err != nil {
		s.broken.Store(true)
	}
	return n, err
}

// newLink takes over a connection whose handshake is done.
func newLink(name string, facts Facts, client *ssh.Client, s *socket, o Options,
	below func()) *link {
	l := &link{name: name, facts: facts, client: client, socket: s, below: below}
	l.alive, l.end = context.WithCancelCause(context.Background())
	go func() {
		err := client.Wait()
		l.die(l.lost("the other side ended it", err))
	}()
	go l.keepAlive(o.KeepAlive)
	return l
}

func (l *link) lost(cause string, err error) error {
	return &Error{Host: l.name, Op: "use the connection to " + l.name, Kind: Lost, Cause: cause,
		Err: err}
}

// die ends the connection; the first reason stays.
func (l *link) die(why error) {
	l.once.Do(func() {
		l.end(why)
		l.socket.Close() // not the client's: that would wait for a frozen peer
		l.below()
	})
}

func (l *link) Name() string          { return l.name }
func (l *link) Facts() Facts          { return l.facts }
func (l *link) Done() <-chan struct{} { return l.alive.Done() }

func (l *link) Err() error { return context.Cause(l.alive) }

func (l *link) Close() error {
	l.die(&Error{Host: l.name, Op: "use the connection to " + l.name, Kind: Closed,
		Cause: "it was closed", Err: net.ErrClosed})
	return nil
}

// died tells whether an end of something on the connection is the end of the connection, and why
// that ended.
func (l *link) died() error {
	if l.socket.broken.Load() {
		<-l.alive.Done() // what reads the socket has stopped; the rest follows
	}
	return l.Err()
}

// await asks the other side for something that takes a round trip, and returns when it is there,
// ctx or the connection ends. What comes too late is dropped.
func await[T any](ctx context.Context, l *link, ask func() (T, error), drop func(T)) (T, error) {
	type answer struct {
		got T
		err error
	}
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	answers := make(chan answer)
	over := make(chan struct{})
	defer close(over)
	go func() {
		got, err := ask()
		select {
		case answers <- answer{got, err}:
		case <-over:
			if err == nil {
				drop(got)
			}
		}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			if why := l.died(); why != nil {
				return none, why
			}
		}
		return a.got, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-l.alive.Done():
		return none, l.Err()
	}
}

// dial opens a connection from a jump host to the next one.
func (l *link) dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := await(ctx, l,
		func() (net.Conn, error) { return l.client.Dial("tcp", addr) },
		func(c net.Conn) { c.Close() })
	if err != nil {
		return nil, err
	}
	s := newStream(address{"tcp", addr}, func() { conn.Close() })
	go l.fromHost(s, conn)
	go l.toHost(s, conn)
	return s, nil
}
