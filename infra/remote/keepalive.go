package remote

import (
	"fmt"
	"time"
)

// misses is how many keepalives in a row may stay without an answer.
const misses = 3

// keepAlive asks every so often whether the other side is there, and ends the connection when it is not. Whatever came in
// meanwhile is an answer, too: a busy connection may keep one waiting.
func (l *link) keepAlive(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	pending, missed := false, 0
	for seen := l.socket.in.Load(); ; {
		select {
		case <-l.alive.Done():
			return
		case <-answered:
			pending, missed = false, 0
			continue
		case <-tick.C:
		}
		in := l.socket.in.Load()
		switch {
		case in != seen:
			missed = 0
		case pending:
			missed++
		}
		seen = in
		if missed == misses {
			l.die(l.lost(fmt.Sprintf("no answer for %s", misses*every), nil))
			return
		}
		if !pending {
			pending = true
			go func() {
				// No server knows the request; every one says so.
				_, _, err := l.client.SendRequest("keepalive@openssh.com", true, nil)
				if err == nil {
					answered <- struct{}{}
				}
			}()
		}
	}
}
