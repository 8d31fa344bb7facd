package master

import (
	"fmt"
	"time"

	"mlframework/sweep/human"
)

// joinEvery is how often the audit has an entry of a worker's processes at most: a worker that starts again and again, or
// whoever has its password, must not fill the store.
const joinEvery = time.Minute

// joins are what the audit has of the processes of a worker.
type joins struct {
	recorded time.Time // the newest entry
	left     int       // processes since then that have none
}

// next reports whether a process that registers now gets an entry, and how many before it got none.
func (j joins) next(now time.Time) (next joins, record bool, left int) {
	if since := now.Sub(j.recorded); !j.recorded.IsZero() && since >= 0 && since < joinEvery {
		return joins{j.recorded, j.left + 1}, false, 0
	}
	return joins{recorded: now}, true, j.left
}

// longestSaid bounds each text of a worker's in an audit entry, in bytes.
const longestSaid = 100

// recordJoin adds an audit entry of a worker's process that was registered.
func (m *Master) recordJoin(w *member) {
	if m.o.Alone {
		return
	}
	next, record, left := w.joins.next(m.o.Now())
	w.joins = next
	if !record {
		return
	}
	said := func(text string) string { return text[:min(len(text), longestSaid)] }
	detail := fmt.Sprintf("host=%s program=%s process=%s", said(w.kept.Host), said(w.kept.Program), said(w.kept.Incarnation))
	if left > 0 {
		detail += fmt.Sprintf(" not-recorded=%d", left)
	}
	m.enter("join", "worker", w.kept.Name, human.Visible(detail))
}
