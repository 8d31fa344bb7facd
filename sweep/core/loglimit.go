package core

import (
	"log/slog"
	"time"
)

// maxLogLines bounds the lines of the log that messages of one worker cause in a minute: it may
// repeat whatever leads to one as fast as it speaks.
const maxLogLines = 60

// logOf adds a line to the log that a message of a worker caused; nil: of one that is not known.
func (c *Core) logOf(w *worker, level slog.Level, text string, args ...any) {
	l := &c.unknownWorkers
	if w != nil {
		l = &w.lines
	}
	switch lines := l.add(c.now, time.Minute); {
	case lines < maxLogLines:
		c.log(level, text, args...)
	case lines == maxLogLines:
		name := "not known"
		if w != nil {
			name = w.record.Name
		}
		c.log(slog.LevelWarn, "more about a worker is not logged in this minute", "worker", name)
	}
}
