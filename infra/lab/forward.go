package lab

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Forwarder stands on this machine before a port of a host, and makes the way there longer, slower
// or worse: the kernel cannot, where it has no netem. Its methods may be called concurrently.
type Forwarder struct {
	Address string // HOST:PORT, on loopback

	target string

	mu    sync.Mutex
	link  Link
	cut   bool
	conns []*Conn
	all   sync.WaitGroup
}

// Forward makes a forwarder to HOST:PORT. It ends with the test.
func Forward(t testing.TB, target string) *Forwarder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Forwarder{Address: listener.Addr().String(), target: target}
	f.all.Go(func() { f.accept(t.Context(), listener) })
	t.Cleanup(func() {
		listener.Close()
		f.Cut()
		f.all.Wait()
	})
	return f
}

// Delay makes a forwarder to the host's sshd that adds to every round trip.
func (h *Host) Delay(t testing.TB, roundTrip time.Duration) *Forwarder {
	t.Helper()
	f := Forward(t, h.At(22))
	f.Set(Link{RoundTrip: roundTrip})
	return f
}

// Set changes how all connections behave, those to come too.
func (f *Forwarder) Set(l Link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = l
	for _, c := range f.conns {
		c.Set(l)
	}
}

// Cut resets all connections, and those to come until Heal.
func (f *Forwarder) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = true
	for _, c := range f.conns {
		c.Reset()
	}
}

// Heal ends Cut.
func (f *Forwarder) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = false
}

// Conns gives the connections that are open, in the order in which they came.
func (f *Forwarder) Conns() []*Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.conns)
}

func (f *Forwarder) accept(ctx context.Context, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		f.all.Go(func() { f.serve(ctx, client) })
	}
}

// serve forwards a connection. When the target takes none the client's is reset, which is the
// nearest to refused.
func (f *Forwarder) serve(ctx context.Context, client net.Conn) {
	server, err := new(net.Dialer).DialContext(ctx, "tcp", f.target)
	if err != nil {
		client.(*net.TCPConn).SetLinger(0)
		client.Close()
		return
	}
	c := f.add(client, server)
	c.serve()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = slices.DeleteFunc(f.conns, func(other *Conn) bool { return other == c })
}

func (f *Forwarder) add(client, server net.Conn) *Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := newConn(client, server, f.link)
	f.conns = append(f.conns, c)
	if f.cut {
		c.Reset()
	}
	return c
}
