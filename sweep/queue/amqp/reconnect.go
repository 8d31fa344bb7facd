package amqp

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// reconnector keeps one connection up.
type reconnector struct {
	part    string
	options Options
	address address
	status  *statusTracker
	// serve works with a connection until it is over, and says why it is. It tells the state when
	// all is well.
	serve func(ctx context.Context, c *connection) error
}

// run connects again and again until ctx ends.
func (l *reconnector) run(ctx context.Context) {
	var p backoff
	for ctx.Err() == nil {
		c, err := dial(ctx, l.options, l.address)
		if err == nil {
			begin := time.Now()
			l.status.setProgram(c.program())
			err = l.serve(ctx, c)
			if ctx.Err() == nil {
				l.status.failed(l.part, explain(l.address, err, nil))
			}
			c.hangUp()
			if time.Since(begin) > maxBackoff {
				p = backoff{}
			}
		} else if ctx.Err() == nil {
			l.status.failed(l.part, explain(l.address, err, nil))
		}
		p.wait(ctx)
	}
}

// connWaiter is where streams wait for a connection. The zero value has none.
type connWaiter struct {
	mu      sync.Mutex
	current *connection
	changed chan struct{}
}

func (l *connWaiter) set(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = c
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// wait returns the connection as soon as there is an open one; nil when ctx ended first.
func (l *connWaiter) wait(ctx context.Context) *connection {
	for {
		c, changed := l.get()
		if c != nil {
			return c
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *connWaiter) get() (*connection, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil && !l.current.IsClosed() {
		return l.current, nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return nil, l.changed
}

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// backoff is the back-off between tries. The zero value is before the first.
type backoff struct{ attempts int }

// next is how long to wait, between half and all of a time that doubles. Chance is from 0 to 1.
func (p *backoff) next(chance float64) time.Duration {
	d := maxBackoff
	if p.attempts < 7 { // 50 ms << 7 is more than 5 s
		d = minBackoff << p.attempts
		p.attempts++
	}
	return d/2 + time.Duration(chance*float64(d/2))
}

// wait waits, or gives up when ctx ends.
func (p *backoff) wait(ctx context.Context) {
	t := time.NewTimer(p.next(rand.Float64()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
