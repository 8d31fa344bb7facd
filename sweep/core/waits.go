package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// neverMeets returns what a worker has that can never give a task the GPUs that it needs; "": it
// can, or what it has is not known.
func (w *worker) neverMeets(need task.GPUs) string {
	if w.beat.GPUFault != "" {
		return ""
	}
	return w.gpus.meet(need).never
}

// waitsAfter is for how long a sweep waits for GPUs before that is told: a look at GPUs that were
// just released takes a moment.
const waitsAfter = 2 * time.Second

// notifyWaits tells the followers of a sweep when none of its tasks can start because workers or
// GPUs are missing, and when tasks can start again.
func (c *Core) notifyWaits() {
	none := c.noWorker()
	if none == "" && c.withGPUs == 0 && !c.noneTold {
		return
	}
	c.noneTold = none != ""
	for _, a := range c.inOrder {
		text := ""
		switch {
		case a.ledger.needs.GPUs > 0:
			text = c.whyWaits(a)
		case none != "" && len(a.record.Workers) == 0 && a.ledger.ready(c.now):
			text = none
		}
		switch {
		case text == "":
			a.waitsSince = time.Time{}
		case a.waitsSince.IsZero():
			a.waitsSince = c.now
		}
		h := &a.ledger.head
		if text == h.Waits || h.Waits == "" && text != none &&
			c.now.Sub(a.waitsSince) < waitsAfter {
			continue
		}
		h.Waits = text
		c.effects.Blocked = append(c.effects.Blocked,
			SweepRows{Seq: a.seq, Record: a.record, Head: *h})
	}
}

// noWorker returns why no worker takes tasks. It returns "" if one does, or if that is not known
// yet.
func (c *Core) noWorker() string {
	if c.options.Local { // its worker is of this process
		return ""
	}
	var states grouped
	for _, w := range c.ordered {
		if w.available() || w.awayReason == "" && w.seenAt.IsZero() {
			return ""
		}
		state, _ := w.state()
		if state == WorkerDraining && w.record.DrainedFor == "" {
			state = "drained (to resume it: run-tasks workers resume NAME; to see who drained " +
				"it: check-status --audit)"
		}
		states.add(w.record.Name, state)
	}
	if len(states.texts) == 0 {
		return "waits for a worker: there are no workers"
	}
	return "waits for a worker: " + strings.Join(states.lines(), "; ")
}

// Notices contains the texts about a sweep that are not stored: Head.Waits and Head.Silent.
type Notices struct{ Waits, Silent string }

// Notices returns, by sweep, why none of its tasks can start now, and which of its workers are
// silent. Waits is empty for sweeps that only wait for running tasks to end.
func (c *Core) Notices() map[string]Notices {
	all := map[string]Notices{}
	for _, a := range c.inOrder {
		if h := &a.ledger.head; h.Waits+h.Silent != "" {
			all[h.ID] = Notices{h.Waits, h.Silent}
		}
	}
	return all
}

// whyWaits returns why nothing of a sweep can start now for want of GPUs; "": something could, or
// only tasks of ours are in the way, or it is not known yet what workers have. Of a sweep that runs
// once on every worker each task says it: see whyBlocked.
func (c *Core) whyWaits(a *activeSweep) string {
	if len(a.record.Workers) > 0 {
		return ""
	}
	if !a.ledger.ready(c.now) {
		return c.whyHandedOutWait(a)
	}
	for _, w := range c.ordered {
		if w.awayReason == "" && w.seenAt.IsZero() || w.couldStart(a) {
			return ""
		}
	}
	need := a.record.Recipe.GPUs
	var able, unable grouped
	for _, w := range c.ordered {
		never := w.neverMeets(need)
		switch state, _ := w.state(); {
		case w.awayReason != "" || w.otherVersion > 0:
			able.add(w.record.Name, state)
		case never != "":
			unable.add(w.record.Name, never)
		case !w.available():
			able.add(w.record.Name, state)
		default:
			able.add(w.record.Name, w.outOfGPUs(need))
		}
	}
	parts := append(able.lines(), unable.lines()...)
	if len(parts) == 0 {
		parts = []string{"there is no worker"}
	}
	return fmt.Sprintf("waits for %v: %s", needOf(need), strings.Join(parts, "; "))
}

// whyHandedOutWait is whyWaits of a sweep of which all tasks that are left are with workers: what
// none of these can start.
func (c *Core) whyHandedOutWait(a *activeSweep) string {
	h := &a.ledger.head
	if h.State != Open || h.Rows[task.Queued]+h.Rows[task.Claimed] == 0 {
		return ""
	}
	need := a.record.Recipe.GPUs
	var out grouped
	for _, name := range slices.Sorted(maps.Keys(a.ledger.assigned)) {
		if a.ledger.unstarted(name) == 0 {
			continue
		}
		w := c.workers[name]
		if w == nil || !w.available() || w.gpus.room.count(w, a) > 0 {
			return "" // it starts them, or they come back
		}
		out.add(w.record.Name, w.outOfGPUs(need))
	}
	return fmt.Sprintf("waits for %v: %s", needOf(need), strings.Join(out.lines(), "; "))
}

// outOfGPUs returns which GPUs that a need could be met with a worker cannot give now, and why.
func (w *worker) outOfGPUs(need task.GPUs) string {
	if w.beat.GPUFault != "" {
		return "cannot list its GPUs: " + human.Visible(w.beat.GPUFault)
	}
	meeting := w.gpus.meeting(need)
	var out []string
	for _, i := range meeting {
		g := &w.beat.GPUs[i]
		between := " " // "busy: ben, ..."
		if g.Broken {
			between = ": "
		}
		if g.Unavailable != "" {
			out = append(out, human.GPU(g.UUID)+between+human.Visible(g.Unavailable))
		}
	}
	if len(out) == len(meeting) && len(meeting) == 1 {
		return out[0]
	}
	text := fmt.Sprintf("%d of %d available", len(meeting)-len(out), len(meeting))
	if len(out) == 0 {
		return text
	}
	if more := len(out) - maxNamed; more > 0 {
		out = append(out[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return text + " (" + strings.Join(out, "; ") + ")"
}

// canMeet reports whether a worker may ever give a task the GPUs that it needs.
func (w *worker) canMeet(need task.GPUs) bool {
	return need == (task.GPUs{}) || w.neverMeets(need) == ""
}
