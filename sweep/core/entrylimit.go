package core

import (
	"fmt"
	"time"

	"mlframework/sweep/human"
)

// entryInterval is how often the audit has an entry of one kind of a worker's processes at most: a
// worker that starts again and again, or anyone who has its password, must not fill the store.
const entryInterval = time.Minute

// entryLimit is what the audit has of the processes of a worker: that they registered, or that they
// were sent the secrets of a sweep.
type entryLimit struct{ limit }

// next reports whether a process gets an entry now, and what that says of those before it that got
// none.
func (l *entryLimit) next(now time.Time) (left string, record bool) {
	before := l.count
	if l.add(now, entryInterval) > 1 {
		return "", false
	}
	if before > 1 {
		left = fmt.Sprintf(" not-recorded=%d", before-1)
	}
	return left, true
}

// maxDetail bounds each text of a worker's in an audit entry, in bytes.
const maxDetail = 100

// recordJoin adds an audit entry of a worker's process that was registered.
func (c *Core) recordJoin(w *worker) {
	if c.options.Local {
		return
	}
	left, record := w.joins.next(c.now)
	if !record {
		return
	}
	bounded := func(text string) string { return text[:min(len(text), maxDetail)] }
	r := &w.record
	detail := fmt.Sprintf("host=%s program=%s process=%s", bounded(r.Host), bounded(r.Program),
		bounded(r.Incarnation))
	c.addAudit("join", "worker", r.Name, human.Visible(detail+left))
}
