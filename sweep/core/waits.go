package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// waitsAfter is for how long a sweep waits for GPUs before that is told: a look at GPUs that were
// just released takes a moment.
const waitsAfter = 2 * time.Second

// notifyWaits tells the followers of a sweep when none of its tasks can start because workers or
// GPUs are missing, and when tasks can start again.
func (c *Core) notifyWaits() {
	none := c.noWorker()
	if none == "" && c.demanding == 0 && !c.noneTold && !c.lacked {
		return
	}
	c.noneTold = none != ""
	for _, a := range c.inOrder {
		text := ""
		switch {
		case !a.ledger.needs.None():
			text = c.whyWaits(a)
		case none != "" && len(a.record.Workers) == 0 && a.ledger.ready(c.now):
			text = none
		}
		if c.lacked && len(a.record.Workers) == 0 && a.ledger.ready(c.now) {
			text = cmp.Or(c.withoutFiles(a), text)
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

// withoutFiles returns that none of the workers that take tasks has the files of a sweep. It returns
// "" if one has them.
func (c *Core) withoutFiles(a *activeSweep) string {
	var names []string
	for _, w := range c.ordered {
		if w.available() && !w.lacks(a) {
			return ""
		}
		if w.available() {
			names = append(names, w.record.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("waits for a worker that has the files of revision %s: run-tasks follow "+
		"and infrainit -f bring them to %s", human.Truncate(a.record.Recipe.Revision), strings.Join(names, ", "))
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

// whyWaits returns why nothing of a sweep can start now for want of what its tasks need; "":
// something could, or only tasks of ours are in the way, or it is not known yet what workers have.
// Of a sweep that runs once on every worker each task says it: see whyBlocked.
func (c *Core) whyWaits(a *activeSweep) string {
	if len(a.record.Workers) > 0 || !a.ledger.ready(c.now) {
		return ""
	}
	for _, w := range c.ordered {
		if w.awayReason == "" && w.seenAt.IsZero() || w.couldStart(a) {
			return ""
		}
	}
	n := &a.ledger.needs
	var able, unable grouped
	for _, w := range c.ordered {
		never := w.neverFits(n)
		switch state, _ := w.state(); {
		case w.awayReason != "" || w.otherVersion > 0:
			able.add(w.record.Name, state)
		case never != "":
			unable.add(w.record.Name, never)
		case !w.available():
			able.add(w.record.Name, state)
		default:
			able.add(w.record.Name, w.outOfGPUs(n.GPUs))
		}
	}
	parts := append(able.lines(), unable.lines()...)
	if len(parts) == 0 {
		parts = []string{"there is no worker"}
	}
	return fmt.Sprintf("waits for %s: %s", NeedsText(n.Needs), strings.Join(parts, "; "))
}

// outOfGPUs returns which GPUs that a need could be met with a worker cannot give now, and why.
func (w *worker) outOfGPUs(need task.GPUs) string {
	if w.beat.GPUFault != "" {
		return "cannot list its GPUs: " + human.Visible(w.beat.GPUFault)
	}
	meeting := w.gpus.meeting(need)
	var out []string
	for _, i := range meeting {
		uuid := w.gpus.devices[i].UUID
		at := slices.IndexFunc(w.beat.GPUs, func(g task.GPU) bool { return g.UUID == uuid })
		if at < 0 || w.beat.GPUs[at].Unavailable == "" {
			continue
		}
		g := &w.beat.GPUs[at]
		between := " " // "busy: ben, ..."
		if g.Broken {
			between = ": "
		}
		out = append(out, human.GPU(g.UUID)+between+human.Visible(g.Unavailable))
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
