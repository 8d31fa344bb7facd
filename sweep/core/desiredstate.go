package core

import (
	"cmp"

	"mlframework/sweep/task"
)

// repeatRequests repeats requests that a worker has not met: messages may get lost.
func (c *Core) repeatRequests(w *worker) {
	switch drained := w.record.Drained || !w.quarantine.until.IsZero(); {
	case w.beat.Closing: // it does nothing more of that
	case w.restart.incarnation == w.beat.Incarnation && (!w.beat.Leaving || w.restart.now):
		c.sendRestart(w)
	case drained != w.beat.Draining && !w.beat.Leaving:
		c.sendDrain(w)
	}
	if wanted := cmp.Or(w.record.Slots, w.record.Started); wanted != w.beat.Slots && wanted > 0 {
		c.sendSlots(w)
	}
	c.sendFollowed(w)
	if w.quarantine.probation && len(w.beat.Running) > 0 {
		w.quarantine.runs(w.beat.Running[0])
	}
}

// sendState sends a worker that has just joined what it cannot know: what is followed, and what was
// asked of it.
func (c *Core) sendState(w *worker) {
	if c.options.Local { // it came with this master, and this might overtake its first tasks
		return
	}
	name := w.record.Name
	c.sendControl(name, task.Control{Kind: task.FollowControl, Off: true})
	if w.mustReturn { // its queued tasks may have been rescheduled
		w.mustReturn = false
		c.sendControl(name, task.Control{Kind: task.DrainControl})
	}
	c.sendDrain(w)
	if w.record.Slots > 0 {
		c.sendSlots(w)
	}
	c.sendFollowed(w)
}

// sendDrain asks a worker to take nothing new, or to take tasks again.
func (c *Core) sendDrain(w *worker) {
	off := !w.record.Drained && w.quarantine.until.IsZero()
	c.sendControl(w.record.Name, task.Control{Kind: task.DrainControl, Off: off})
}

func (c *Core) sendSlots(w *worker) {
	c.sendControl(w.record.Name, task.Control{Kind: task.SlotsControl, Slots: w.record.Slots})
}

// restartRequest is that one process of a worker was asked to end, so that its supervisor starts
// another. It does not outlive the master; a worker that got it needs no other.
type restartRequest struct {
	incarnation string // of the process; "": nothing was asked
	now         bool   // it stops what runs
}

// restarting reports whether the process that speaks was asked to end.
func (w *worker) restarting() bool {
	return w.beat.Leaving ||
		w.restart.incarnation != "" && w.restart.incarnation == w.beat.Incarnation
}

func (c *Core) sendRestart(w *worker) {
	c.sendControl(w.record.Name, task.Control{Kind: task.RestartControl,
		Incarnation: w.restart.incarnation, Now: w.restart.now})
}
