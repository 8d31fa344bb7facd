package remote

import (
	"sync"
	"time"
)

// pausableTimer rings after a time that runs only while nobody holds it. It is for connections
// without deadlines, and for handshakes in which a person is asked.
type pausableTimer struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time
	held  int
	ended bool
	timer *time.Timer
	ring  func()
}

func startPausableTimer(d time.Duration, ring func()) *pausableTimer {
	c := &pausableTimer{left: d, since: time.Now(), ring: ring}
	c.timer = time.AfterFunc(d, ring)
	return c
}

// hold pauses it until the returned function is called.
func (c *pausableTimer) hold() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 {
		c.timer.Stop()
		c.left -= time.Since(c.since)
	}
	return sync.OnceFunc(c.resume)
}

func (c *pausableTimer) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held--; c.held == 0 && !c.ended {
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

func (c *pausableTimer) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.timer.Stop()
}
