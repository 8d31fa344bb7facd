package master

import (
	"time"

	"mlframework/sweep/task"
)

// Numbers of the quarantine.
const (
	mostInfra       = 3 // attempts in a row that a host could not run, before it is left alone
	firstQuarantine = time.Minute
	lastQuarantine  = 10 * time.Minute
)

// trial keeps a host that fails at once whatever it gets from getting everything: after three such ends in a row it is
// left alone for a minute, then twice as long each time, and gets one task to prove itself.
type trial struct {
	fails     int       // in a row
	times     int       // of quarantine, since it last ran something
	until     time.Time // zero: not in quarantine
	probation bool
	proof     task.Busy // what ran in probation at the heartbeat before
	reason    string
}

// note takes the end of an attempt. It tells whether the quarantine begins.
func (t *trial) note(o *task.Outcome, now time.Time) bool {
	switch {
	case infra(o):
		t.fails++
		t.reason = o.Reason
	case o.Class != task.Loss && o.Class != task.Stopped:
		*t = trial{until: t.until}
		return false
	}
	if t.fails < mostInfra && !(t.probation && t.fails > 0) || !t.until.IsZero() {
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
