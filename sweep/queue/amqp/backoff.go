package amqp

import (
	"context"
	"math/rand/v2"
	"time"
)

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
