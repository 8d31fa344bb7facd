package core

import "time"

// limit counts what happens in windows of time that follow each other. The zero value is ready.
type limit struct {
	since time.Time // when the window began
	count int       // in it
}

// add counts once more and returns how often it did in the window. A clock that was set back begins
// a window, too.
func (l *limit) add(now time.Time, window time.Duration) int {
	if passed := now.Sub(l.since); passed < 0 || passed >= window {
		*l = limit{since: now}
	}
	l.count++
	return l.count
}
