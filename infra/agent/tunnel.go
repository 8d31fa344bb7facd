package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Socket is a master's Unix socket.
type Socket struct {
	Path  string // absolute
	Owner int    // uid that socket and folder have to belong to
}

// Docker opens a connection to the host's Docker Engine. Like those of Master and Port it has a
// method CloseWrite, which ends what the other side reads, and no deadlines. When the other side
// has ended what it sends, nothing can be sent to it any more, either. Close drops what was not
// sent yet. ctx is about the opening only.
func (c *Client) Docker(ctx context.Context) (net.Conn, error) {
	return c.tunnel(ctx, "/docker")
}

// Master opens a connection to a master. Where anybody but the owner or root may have made the
// socket nothing is sent, and the error is an *Error.
func (c *Client) Master(ctx context.Context, s Socket) (net.Conn, error) {
	q := url.Values{"socket": {s.Path}, "owner": {strconv.Itoa(s.Owner)}}
	return c.tunnel(ctx, "/master?"+q.Encode())
}

// Port opens a connection to a port of the host's loopback.
func (c *Client) Port(ctx context.Context, port int) (net.Conn, error) {
	return c.tunnel(ctx, "/port?number="+strconv.Itoa(port))
}

// tunnel opens a connection of the host.
func (c *Client) tunnel(ctx context.Context, path string) (net.Conn, error) {
	request, err := c.open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &tunnel{open: request, host: c.host}, nil
}

// tunnel is an open request as a connection.
type tunnel struct {
	*open
	host   string
	closed atomic.Bool
}

func (t *tunnel) Read(p []byte) (int, error) {
	n, err := t.answer.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && t.closed.Load() {
		err = net.ErrClosed
	}
	return n, err
}

func (t *tunnel) Write(p []byte) (int, error) {
	n, err := t.body.Write(p)
	switch {
	case err != nil && t.closed.Load():
		err = net.ErrClosed
	case errors.Is(err, io.ErrClosedPipe): // the request has ended
		err = syscall.EPIPE
	}
	return n, err
}

// CloseWrite tells the other side that nothing more comes.
func (t *tunnel) CloseWrite() error { return t.body.Close() }

// Close ends the request, also while it is read or written.
func (t *tunnel) Close() error {
	t.closed.Store(true)
	t.cancel(net.ErrClosed)
	t.body.Close()
	return t.answer.Close()
}

func (t *tunnel) LocalAddr() net.Addr              { return place("") }
func (t *tunnel) RemoteAddr() net.Addr             { return place(t.host) }
func (t *tunnel) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (t *tunnel) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (t *tunnel) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

// place is an address at the other end of a tunnel.
type place string

func (place) Network() string  { return "agent" }
func (p place) String() string { return string(p) }
