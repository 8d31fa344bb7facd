package core

import (
	"log/slog"
	"time"
)

// rateLimit counts what happens in windows of time that follow each other, so that what one worker
// causes can be bounded. It also says how much was left out, which a token bucket does not. The
// zero value is ready.
type rateLimit struct {
	start time.Time // of the window
	count int       // in it
}

// add counts one more and returns the count of its window. A clock that was set back starts a
// window, too.
func (l *rateLimit) add(now time.Time, window time.Duration) int {
	if passed := now.Sub(l.start); passed < 0 || passed >= window {
		*l = rateLimit{start: now}
	}
	l.count++
	return l.count
}

// first counts one more and reports whether it is the first of its window; if so, it returns how
// many others there were in the window before.
func (l *rateLimit) first(now time.Time, window time.Duration) (others int, ok bool) {
	before := l.count
	if l.add(now, window) > 1 {
		return 0, false
	}
	return max(0, before-1), true
}

// maxStops bounds how often in a second a worker is asked to stop attempts that do not count. What
// it says may be made up; what really runs there is in its next heartbeats, too.
const maxStops = 512

// mayStop reports whether a worker may be asked to stop one more attempt now.
func (w *worker) mayStop(now time.Time) bool {
	return w.stops.add(now, time.Second) <= maxStops
}

// maxLogLines bounds the log entries that messages of one worker cause in a minute: it may repeat
// such a message as often as it likes.
const maxLogLines = 60

// logOf adds a log entry that a message of a worker caused; nil is a worker that is not known.
func (c *Core) logOf(w *worker, level slog.Level, text string, args ...any) {
	name, l := "not known", &c.unknownWorkers
	if w != nil {
		name, l = w.record.Name, &w.logLines
	}
	switch lines := l.add(c.now, time.Minute); {
	case lines < maxLogLines:
		c.log(level, text, args...)
	case lines == maxLogLines:
		c.log(slog.LevelWarn, "more about a worker is not logged in this minute", "worker", name)
	}
}
