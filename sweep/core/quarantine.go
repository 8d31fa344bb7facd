package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// How long a quarantine lasts: the first, and at most.
const (
	firstQuarantine = time.Minute
	lastQuarantine  = 10 * time.Minute
)

// quarantine keeps a host that fails at once whatever it gets from getting everything: after
// task.MaxHostFaults such ends in a row it is left alone for a minute, then twice as long each
// time, and gets one task to prove itself.
type quarantine struct {
	fails     int       // in a row
	times     int       // of quarantine, since it last ran something
	until     time.Time // zero: not in quarantine
	probation bool
	proof     task.Busy // what ran on probation at the heartbeat before
	reason    string
}

// ended takes the end of an attempt and reports whether a quarantine starts. What ends in
// quarantine started before it, and says nothing about the host as it is now.
func (q *quarantine) ended(o *task.Outcome, now time.Time) bool {
	switch {
	case !q.until.IsZero():
		return false
	case o.HostFault():
		q.fails++
		q.reason = o.Reason
	case o.Ran():
		*q = quarantine{}
		return false
	}
	if q.fails < task.MaxHostFaults && !(q.probation && q.fails > 0) {
		return false
	}
	q.until = now.Add(min(firstQuarantine<<min(q.times, 10), lastQuarantine))
	q.fails, q.probation = 0, false
	q.times++
	return true
}

// runs notes what runs on probation: what is there for two heartbeats has proven that the host can
// run something.
func (q *quarantine) runs(b task.Busy) {
	if q.proof.Sweep == b.Sweep && q.proof.Index == b.Index && q.proof.Attempt == b.Attempt {
		*q = quarantine{}
		return
	}
	q.proof = b
}

// expire ends the quarantine when its time has come, and reports whether it did.
func (q *quarantine) expire(now time.Time) bool {
	if q.until.IsZero() || now.Before(q.until) {
		return false
	}
	q.until, q.probation = time.Time{}, true
	return true
}

// unfit reports whether an event only confirms that the worker's host can run nothing. Attempts
// that were on their way when that was found out are not charged for it.
func (w *worker) unfit(e *task.Event) bool {
	return !w.quarantine.until.IsZero() && e.Kind == task.EndedEvent && e.Outcome != nil &&
		e.Outcome.HostFault()
}

// noteHostFaults notes how an attempt ended for its worker.
func (c *Core) noteHostFaults(w *worker, o *task.Outcome) {
	if c.options.Local || !w.quarantine.ended(o, c.now) {
		return
	}
	c.log(slog.LevelWarn, "a worker is in quarantine: it fails at once whatever it gets",
		"worker", w.record.Name, "until", w.quarantine.until, "reason", o.Reason)
	c.consider(w)
	c.sendDrain(w)
}

// endQuarantines puts workers on probation whose quarantine is over.
func (c *Core) endQuarantines() {
	for _, w := range c.ordered {
		if w.quarantine.expire(c.now) {
			c.consider(w)
			c.sendDrain(w)
		}
	}
}
