package core

import (
	"fmt"
	"time"

	"mlframework/sweep/human"
)

// joinInterval is how often the audit has an entry of a worker's processes at most: a worker that
// starts again and again, or anyone who has its password, must not fill the store.
const joinInterval = time.Minute

// joinLimit is what the audit has of the processes of a worker.
type joinLimit struct {
	recorded time.Time // the newest entry
	left     int       // processes since then that have none
}

// next reports whether a process that registers now gets an entry, and how many before it got none.
func (j joinLimit) next(now time.Time) (next joinLimit, record bool, left int) {
	if since := now.Sub(j.recorded); !j.recorded.IsZero() && since >= 0 && since < joinInterval {
		return joinLimit{j.recorded, j.left + 1}, false, 0
	}
	return joinLimit{recorded: now}, true, j.left
}

// longestDetail bounds each text of a worker's in an audit entry, in bytes.
const longestDetail = 100

// recordJoin adds an audit entry of a worker's process that was registered.
func (c *Core) recordJoin(w *worker) {
	if c.options.Local {
		return
	}
	next, record, left := w.joins.next(c.now)
	w.joins = next
	if !record {
		return
	}
	bounded := func(text string) string { return text[:min(len(text), longestDetail)] }
	r := &w.record
	detail := fmt.Sprintf("host=%s program=%s process=%s", bounded(r.Host), bounded(r.Program), bounded(r.Incarnation))
	if left > 0 {
		detail += fmt.Sprintf(" not-recorded=%d", left)
	}
	c.record("join", "worker", r.Name, human.Visible(detail))
}
