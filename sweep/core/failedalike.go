package core

import (
	"fmt"
	"time"

	"mlframework/sweep/failure"
	"mlframework/sweep/task"
)

// FailedAlike begins the reason of a sweep that is paused because its first tasks failed alike.
const FailedAlike = "the first tasks all failed for the same reason"

// When tasks fail alike at the beginning of a sweep, something is wrong with all of them.
const (
	leastAlike = 3
	soon       = time.Minute // after their start
)

// firstFailures are the tasks that ended since a sweep was last let go on.
type firstFailures struct {
	class  task.Class
	reason string // masked
	count  int64
	differ bool
}

// add takes the end of a task.
func (f *firstFailures) add(o *task.Outcome) {
	reason := failure.Alike(o.Reason)
	if f.count == 0 {
		f.class, f.reason = o.Class, reason
	}
	f.count++
	f.differ = f.differ || o.Class != f.class || reason != f.reason || o.Duration > soon ||
		o.Class != task.Error && o.Class != task.OutOfMemory
}

// enforceKeepGoing pauses a sweep whose first tasks, as many as run at a time, all failed alike. A
// sweep with max-failures is stopped by that alone.
func (l *Ledger) enforceKeepGoing(o *task.Outcome) {
	h := &l.head
	if l.keepGoing || l.maxFails > 0 || h.State != Open || len(l.pins) > 0 {
		return
	}
	l.first.add(o)
	running := h.Rows[task.Running]
	left := h.Total - h.Counts().Done() - running
	if l.first.differ || h.Rows[task.Succeeded] > 0 || left == 0 ||
		l.first.count < max(leastAlike, running+1) {
		return
	}
	l.Pause(fmt.Sprintf("%s: %d x %s: %s", FailedAlike, l.first.count, o.Class, o.Reason), false)
}
