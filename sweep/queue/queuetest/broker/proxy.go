package broker

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands before a broker and acts as a network that fails. Its methods may be called
// concurrently.
type Proxy struct {
	URL string // the broker's, through the proxy

	target string

	mu      sync.Mutex
	cut     bool
	stalled chan struct{} // nil: it forwards; else closed by Heal
	conns   map[net.Conn]struct{}
	all     sync.WaitGroup
}

// Through makes a proxy to the broker at an address (URL or TLS). It ends with the test.
func Through(t testing.TB, address string) *Proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: u.Host, conns: map[net.Conn]struct{}{}}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	u.Host = net.JoinHostPort(u.Hostname(), port)
	p.URL = u.String()
	p.all.Go(func() { p.accept(listener) })
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
		p.all.Wait()
	})
	return p
}

// Cut drops all connections and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.conns {
		c.Close()
	}
	p.flow()
}

// Stall keeps connections open, takes new ones, and forwards nothing.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Heal ends Cut and Stall.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	p.flow()
}

// flow ends a stall. The caller holds the lock.
func (p *Proxy) flow() {
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		if !p.add(client) {
			continue
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// add keeps a connection to be cut, or closes it at once while all are.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) serve(client net.Conn) {
	defer p.drop(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil || !p.add(server) {
		return
	}
	defer p.drop(server)
	p.all.Go(func() {
		p.forward(server, client)
		server.Close()
	})
	p.forward(client, server)
	client.Close()
}

func (p *Proxy) forward(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.wait()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits for the end of a stall.
func (p *Proxy) wait() {
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}
