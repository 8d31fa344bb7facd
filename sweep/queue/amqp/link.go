package amqp

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
)

// pause is the back-off between tries. The zero value is before the first.
type pause struct{ tries int }

// next is how long to wait, between half and all of a time that doubles. Chance is from 0 to 1.
func (p *pause) next(chance float64) time.Duration {
	d := longestPause
	if p.tries < 7 { // 50 ms << 7 is more than 5 s
		d = shortestPause << p.tries
		p.tries++
	}
	return d/2 + time.Duration(chance*float64(d/2))
}

// wait waits, or gives up when ctx ends.
func (p *pause) wait(ctx context.Context) {
	t := time.NewTimer(p.next(rand.Float64()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// link keeps one connection up.
type link struct {
	part  string
	o     Options
	at    place
	state *state
	// use works with a connection until it is over, and says why it is. It tells the state when all is well.
	use func(ctx context.Context, c *connection) error
}

// run connects again and again until ctx ends.
func (l *link) run(ctx context.Context) {
	var p pause
	for ctx.Err() == nil {
		c, err := dial(ctx, l.o, l.at)
		if err == nil {
			begin := time.Now()
			l.state.met(c.program())
			err = l.use(ctx, c)
			if ctx.Err() == nil {
				l.state.fail(l.part, explain(l.at, err, nil))
			}
			c.hangUp()
			if time.Since(begin) > longestPause {
				p = pause{}
			}
		} else if ctx.Err() == nil {
			l.state.fail(l.part, explain(l.at, err, nil))
		}
		p.wait(ctx)
	}
}

// lookout is where streams wait for a connection. The zero value has none.
type lookout struct {
	mu      sync.Mutex
	current *connection
	changed chan struct{}
}

func (l *lookout) set(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = c
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// wait gives the connection as soon as there is one that lives; nil when ctx ended first.
func (l *lookout) wait(ctx context.Context) *connection {
	for {
		c, changed := l.now()
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

func (l *lookout) now() (*connection, <-chan struct{}) {
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
