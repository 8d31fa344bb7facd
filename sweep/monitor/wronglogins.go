package monitor

import (
	"sync"
	"time"
)

// wrongLoginInterval is the time between two log lines about wrong logins: whoever reaches the
// monitor must not drive older lines out of the log.
const wrongLoginInterval = time.Minute

// wrongLogins counts wrong logins. It is safe for concurrent use.
type wrongLogins struct {
	mu     sync.Mutex
	logged time.Time // when the last line was logged
	others int       // since then
}

// note counts a wrong login. It returns whether a line is due, and how many wrong logins there were
// since the line before that were not logged.
func (l *wrongLogins) note(now time.Time) (due bool, others int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.logged.IsZero() && now.Sub(l.logged) < wrongLoginInterval {
		l.others++
		return false, 0
	}
	others = l.others
	l.logged, l.others = now, 0
	return true, others
}
