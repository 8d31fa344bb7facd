package lab

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link is how a connection through a Forwarder behaves. The zero value is one that hides nothing.
type Link struct {
	// what is added to a round trip: half of it each way, whatever the rate
	RoundTrip      time.Duration
	BytesPerSecond int  // each way; 0 is no limit
	Frozen         bool // what comes waits, and goes on when this ends
	// what comes is taken and lost, the end of the connection too: the other side is half open
	Silent bool
}

// Conn is one connection through a Forwarder. Its methods may be called concurrently.
type Conn struct {
	client, server net.Conn

	mu      sync.Mutex
	link    Link
	changed chan struct{} // closed by the next Set
	ended   chan struct{}
	end     sync.Once
	lost    atomic.Int64 // bytes
}

func newConn(client, server net.Conn, l Link) *Conn {
	return &Conn{client: client, server: server, link: l, changed: make(chan struct{}),
		ended: make(chan struct{})}
}

// Set changes how the connection behaves, for what is under way, too.
func (c *Conn) Set(l Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	close(c.changed)
	c.changed = make(chan struct{})
}

// Reset ends the connection with a reset to both sides.
func (c *Conn) Reset() {
	for _, side := range []net.Conn{c.client, c.server} {
		if tcp, ok := side.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	c.close()
}

func (c *Conn) close() {
	c.end.Do(func() {
		close(c.ended)
		c.client.Close()
		c.server.Close()
	})
}

func (c *Conn) now() (Link, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link, c.changed
}

// chunk is what one read gave.
type chunk struct {
	data []byte // none is the end of what one side sends
	came time.Time
}

// A direction holds at most 1024 chunks of 32 KiB: enough for 300 MB/s over 100 ms.
const (
	chunkSize = 32 << 10
	underWay  = 1024
)

// serve forwards both ways until both sides have ended.
func (c *Conn) serve() {
	defer c.close()
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{c.client, c.server}, {c.server, c.client}} {
		queue := make(chan chunk, underWay)
		ways.Go(func() { c.read(way[0], queue) })
		ways.Go(func() { c.write(way[1], queue) })
	}
	ways.Wait()
}

func (c *Conn) read(from io.Reader, queue chan<- chunk) {
	defer close(queue)
	for {
		data := make([]byte, chunkSize)
		n, err := from.Read(data)
		if n > 0 && !c.send(queue, data[:n]) || err != nil && !c.send(queue, nil) || err != nil {
			return
		}
	}
}

func (c *Conn) send(queue chan<- chunk, data []byte) bool {
	select {
	case queue <- chunk{data, time.Now()}:
		return true
	case <-c.ended:
		return false
	}
}

// write sends on what is due. It ends when both the queue has, and the end has been passed on.
func (c *Conn) write(to net.Conn, queue <-chan chunk) {
	for next := range queue {
		l, ok := c.hold(next.came)
		switch {
		case !ok:
			return
		case l.Silent && next.data == nil:
			<-c.ended // nobody hears of the end
		case l.Silent:
			c.lost.Add(int64(len(next.data)))
		case next.data == nil:
			to.(interface{ CloseWrite() error }).CloseWrite()
		case !c.pace(to, next.data):
			c.close()
			return
		}
	}
}

// hold waits until what came at a time is due. It gives the link as it is then, and false when the
// connection has ended.
func (c *Conn) hold(came time.Time) (Link, bool) {
	for {
		l, changed := c.now()
		wait := time.Until(came.Add(l.RoundTrip / 2))
		switch {
		case l.Frozen:
			wait = 1 << 62 // until it changes
		case wait <= 0:
			return l, true
		}
		if !c.wait(wait, changed) {
			return l, false
		}
	}
}

// pace writes no faster than the link allows, in pieces of a twentieth of a second.
func (c *Conn) pace(to io.Writer, data []byte) bool {
	for len(data) > 0 {
		l, _ := c.now()
		piece := len(data)
		if l.BytesPerSecond > 0 {
			piece = min(piece, max(1, l.BytesPerSecond/20))
		}
		if _, err := to.Write(data[:piece]); err != nil {
			return false
		}
		data = data[piece:]
		if l.BytesPerSecond > 0 && !c.wait(time.Duration(piece)*time.Second/time.Duration(
			l.BytesPerSecond), nil) {
			return false
		}
	}
	return true
}

// wait gives false when the connection ends within the time, and returns early when the link
// changes.
func (c *Conn) wait(d time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ended:
		return false
	case <-timer.C:
	case <-changed:
	}
	return true
}
