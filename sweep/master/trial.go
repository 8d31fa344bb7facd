package master

import (
	"time"

	"mlframework/sweep/task"
)

// How long a quarantine lasts: the first, and at most.
const (
	firstQuarantine = time.Minute
	lastQuarantine  = 10 * time.Minute
)

// trial keeps a host that fails at once whatever it gets from getting everything: after task.MostHostFaults such ends in a row it is
// left alone for a minute, then twice as long each time, and gets one task to prove itself.
type trial struct {
	fails     int       // in a row
	times     int       // of quarantine, since it last ran something
	until     time.Time // zero: not in quarantine
	probation bool
	proof     task.Busy // what ran in probation at the heartbeat before
	reason    string
}

// note takes the end of an attempt. It tells whether the quarantine begins. What ends in quarantine began before it, and
// says nothing of the host as it is.
func (t *trial) note(o *task.Outcome, now time.Time) bool {
	switch {
	case !t.until.IsZero():
		return false
	case o.HostFault():
		t.fails++
		t.reason = o.Reason
	case o.Ran():
		*t = trial{}
		return false
	}
	if t.fails < task.MostHostFaults && !(t.probation && t.fails > 0) {
		return false
	}
	t.until = now.Add(min(firstQuarantine<<min(t.times, 10), lastQuarantine))
	t.fails, t.probation = 0, false
	t.times++
	return true
}

// ran notes what runs in probation: what is there for two heartbeats has proven that the host can run something.
func (t *trial) ran(b task.Busy) {
	if t.proof == b {
		*t = trial{}
		return
	}
	t.proof = b
}

// over ends the quarantine when its time has come, and tells whether it did.
func (t *trial) over(now time.Time) bool {
	if t.until.IsZero() || now.Before(t.until) {
		return false
	}
	t.until, t.probation = time.Time{}, true
	return true
}

// unfit reports whether an event tells what the master knows already: that the worker's host can run nothing. Attempts that
// were on their way when it found out are not charged for it.
func (w *member) unfit(e task.Event) bool {
	return !w.trial.until.IsZero() && e.Kind == task.EndedEvent && e.Outcome != nil && e.Outcome.HostFault()
}

// judge notes how an attempt ended for its worker.
func (m *Master) judge(worker string, o *task.Outcome) {
	w := m.workers[worker]
	if w == nil || m.o.Alone || !w.trial.note(o, m.o.Now()) {
		return
	}
	m.o.Log.Warn("a worker fails at once whatever it gets: it is left alone", "worker", worker, "until", w.trial.until, "reason", o.Reason)
	m.drain(w)
}

// release lets workers be tried again whose quarantine is over.
func (m *Master) release(now time.Time) {
	for _, name := range m.names() {
		if w := m.workers[name]; w.trial.over(now) {
			m.drain(w)
		}
	}
}

// drain tells a worker whether it may take anything new.
func (m *Master) drain(w *member) {
	off := !w.kept.Drained && w.trial.until.IsZero()
	m.post.tell(w.kept.Name, task.Control{Kind: task.DrainControl, Off: off})
}
