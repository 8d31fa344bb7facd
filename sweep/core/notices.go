package core

import (
	"slices"
	"strings"
	"time"

	"mlframework/sweep/task"
)

// Events of a sweep of which its record's Notify is told.
const (
	EndedNotice    = "ended"    // it finished, was cancelled, or was paused by failures or a full disk
	FailuresNotice = "failures" // many of its tasks fail
)

// minFailures is how many failed tasks are many, if they are half of those that ended.
const minFailures = 3

// Notice is one message to a sweep's Notify. It is kept with the change that it is about, and sent
// after that: at least once.
type Notice struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`            // of the change; UTC
	Sent  time.Time `json:"sent,omitzero"`   // UTC; zero: not yet, or not at all
	Error string    `json:"error,omitempty"` // why it could not be sent
	// Outcome of the sweep, of an OnEndNotice.
	Outcome string `json:"outcome,omitempty"`
	// Sweep is the one that runs the OnEnd, after an OnEndNotice was sent.
	Sweep string `json:"sweep,omitempty"`
}

// Pending reports whether the notice is still to be sent.
func (n Notice) Pending() bool { return n.Sent.IsZero() && n.Error == "" }

// PendingNotices are the notices of a sweep that are still to be sent.
func (r Record) PendingNotices() (all []Notice) {
	for _, n := range r.Notices {
		if n.Pending() {
			all = append(all, n)
		}
	}
	return all
}

// nextNotices returns the notices of a sweep after it changed. A sweep that goes on after its end
// has those alone that are still to be sent: it is told of its next end, too.
func nextNotices(have []Notice, was, now Head, at time.Time) []Notice {
	add := func(event string) []Notice {
		return append(slices.Clip(have), Notice{Event: event, Time: at.UTC().Truncate(precision)})
	}
	switch {
	case now.over() && !was.over():
		return add(EndedNotice)
	case was.over() && !now.over():
		return Record{Notices: have}.PendingNotices()
	case now.State == Open && now.manyFailures() &&
		!slices.ContainsFunc(have, func(n Notice) bool { return n.Event == FailuresNotice }):
		return add(FailuresNotice)
	}
	return have
}

// over reports whether a sweep has ended, or was paused because of what happened in it, and none of
// its tasks run.
func (h Head) over() bool {
	if !h.Ended.IsZero() {
		return true
	}
	itself := strings.Contains(h.Reason, maxFailuresReason) ||
		strings.HasPrefix(h.Reason, FailedAlike) ||
		strings.HasPrefix(h.Reason, task.NoSpaceReason)
	return h.State == Paused && itself &&
		h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] == 0
}

// manyFailures reports whether many tasks failed since the sweep was last let go on.
func (h Head) manyFailures() bool {
	failed := h.Rows.Failures() - h.IgnoredFailures
	return failed >= minFailures && failed >= h.Rows[task.Succeeded]
}

// addNotices notes of what happened to a sweep in this step its Notify is to be told.
func (c *Core) addNotices(a *activeSweep) {
	was, now := a.was, a.ledger.head
	a.was = now
	if a.record.Notify == nil && a.record.OnEnd == nil {
		return
	}
	have := a.record.Notices
	next := nextNotices(have, was, now, c.now)
	if a.record.Notify == nil {
		next = slices.DeleteFunc(slices.Clone(next),
			func(n Notice) bool { return n.Event != OnEndNotice })
	}
	if was.Ended.IsZero() && runsOnEnd(a.record.OnEnd, now) {
		next = append(slices.Clip(next),
			Notice{Event: OnEndNotice, Time: c.now.UTC().Truncate(precision), Outcome: now.Outcome()})
	}
	if !slices.Equal(have, next) {
		r := *a.record
		r.Notices = next
		a.setRecord(r)
		a.rewritten = true
	}
}

// NoticeSent notes that a notice was sent, or why it could not be.
type NoticeSent struct {
	Sweep  string
	Notice Notice // as it was to be sent
	Error  string // "": it was sent
	Runs   string // the sweep of an OnEndNotice
}

func (s NoticeSent) decide(c *Core) (func(), error) {
	a, err := c.findSweep(s.Sweep)
	if err != nil {
		return nil, err
	}
	return func() {
		r := *a.record
		r.Notices = slices.Clone(r.Notices)
		for i, n := range r.Notices {
			switch {
			case n.Event != s.Notice.Event || !n.Time.Equal(s.Notice.Time):
			case s.Error == "":
				r.Notices[i].Sent = c.now.UTC().Truncate(precision)
				r.Notices[i].Sweep = s.Runs
			default:
				r.Notices[i].Error = s.Error
			}
		}
		c.rewrite(a, r)
	}, nil
}
