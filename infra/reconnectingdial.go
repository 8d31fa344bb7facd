package infra

import (
	"context"
	"net"
	"sync"

	"mlframework/infra/remote"
)

// ReconnectingDial is as Dial, and connects to the master's host again when the connection has
// died: for who follows a sweep for days, from a laptop that sleeps. It may be used concurrently,
// until the function that it comes with is called.
func (c *Cluster) ReconnectingDial() (dial Dial, end func()) {
	l := &reconnecting{c: c, name: c.location.Master, target: c.location.Targets[c.location.Master],
		now: c.connected[c.location.Master]}
	return l.dial, l.end
}

// reconnecting is the newest connection to the master's host.
type reconnecting struct {
	c      *Cluster
	name   string
	target remote.Target

	mu   sync.Mutex
	now  *connectedHost
	mine bool // it was made here
}

func (l *reconnecting) dial(ctx context.Context) (net.Conn, error) {
	m, err := l.connectedHost(ctx)
	if err != nil {
		return nil, err
	}
	return m.api()(ctx)
}

// connectedHost connects again when it has to. Callers wait for each other: one connection is
// enough for all.
func (l *reconnecting) connectedHost(ctx context.Context) (*connectedHost, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.host.Err() == nil {
		return l.now, nil
	}
	host, err := l.c.o.Dialer.Connect(ctx, l.target)
	if err != nil {
		return nil, err
	}
	found := l.now.found
	l.drop()
	l.now, l.mine = l.c.connectedHost(l.name, host), true
	l.now.found = found
	return l.now, nil
}

func (l *reconnecting) drop() {
	if l.mine {
		_ = l.now.close() // it has died
	}
}

func (l *reconnecting) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
}
