package remote

import (
	"fmt"
	"time"
)

// misses is how many keepalives in a row may stay without an answer.
const misses = 3

// keepAlive ends the connection when the other side is not there any more.
func (l *link) keepAlive(every time.Duration) {
	ask := func() error {
		// No server knows the request; every one says so.
		_, _, err := l.client.SendRequest("keepalive@openssh.com", true, nil)
		return err
	}
	if silent(l.alive.Done(), every, l.socket.in.Load, ask) {
		l.die(l.lost(fmt.Sprintf("no answer for %s", misses*every), nil))
	}
}

// silent asks every so often whether the other side is there, and gives true when it is not, false
// when done. Whatever came in meanwhile is an answer, too: a busy connection may keep one waiting.
func silent(done <-chan struct{}, every time.Duration, in func() int64, ask func() error) bool {
	tick := time.NewTicker(every)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	pending, missed := false, 0
	for seen := in(); ; {
		select {
		case <-done:
			return false
		case <-answered:
			pending, missed = false, 0
			continue
		case <-tick.C:
		}
		now := in()
		switch {
		case now != seen:
			missed = 0
		case pending:
			missed++
		}
		seen = now
		if missed == misses {
			return true
		}
		if !pending {
			pending = true
			go func() {
				if ask() == nil {
					answered <- struct{}{}
				}
			}()
		}
	}
}
