package core

import (
	"fmt"
	"strings"
	"time"

	"mlframework/sweep/task"
)

const (
	// silentAfter is after how long without a heartbeat a worker counts as silent: five are missing.
	silentAfter = 10 * time.Second
	// maxSilent bounds the silent workers that a text names.
	maxSilent = 3
)

// silence returns for how long nothing has been heard of a worker although the queue works, in
// whole seconds; 0 for one that is not silent.
func (c *Core) silence(w *worker) time.Duration {
	last := w.seenAt
	if c.leasesRenewedAt.After(last) {
		last = c.leasesRenewedAt
	}
	if d := c.now.Sub(last).Truncate(time.Second); d >= silentAfter && !c.options.Local {
		return d
	}
	return 0
}

// silentText is "nothing is heard of w1 for 45s: others get its 2 tasks after 2m0s", or, after its
// lease, "nothing is heard of w1 for 2m5s: its 2 tasks go on when it is back, unless others get
// them first".
func (c *Core) silentText(w *worker, tasks string, n int) string {
	text := fmt.Sprintf("nothing is heard of %s for %s: ", w.record.Name, c.silence(w))
	switch {
	case w.awayReason == "":
		return text + fmt.Sprintf("others get %s after %s", tasks, c.options.Lease)
	case n == 1:
		return text + tasks + " goes on when it is back, unless another gets it first"
	}
	return text + tasks + " go on when it is back, unless others get them first"
}

// silentWorkers lists the workers that are silent.
func (c *Core) silentWorkers() (all []*worker) {
	for _, w := range c.ordered {
		if c.silence(w) > 0 {
			all = append(all, w)
		}
	}
	return all
}

// silentTasks returns, by index, what becomes of the tasks of a sweep that silent workers have.
func (c *Core) silentTasks(a *activeSweep) map[int64]string {
	texts := map[int64]string{}
	for _, w := range c.silentWorkers() {
		for _, t := range a.ledger.heldBy(w.record.Name) {
			texts[t.Index] = c.silentText(w, "the task", 1)
		}
	}
	return texts
}

// notifySilence notifies followers of sweeps every second of workers that have tasks of these and
// are silent.
func (c *Core) notifySilence() {
	silent := c.silentWorkers()
	for _, a := range c.inOrder {
		h := &a.ledger.head
		var texts []string
		others := 0
		for _, w := range silent {
			switch n := len(a.ledger.heldBy(w.record.Name)); {
			case n > 0 && len(texts) == maxSilent:
				others++
			case n == 1:
				texts = append(texts, c.silentText(w, "its task", n))
			case n > 1:
				texts = append(texts, c.silentText(w, fmt.Sprintf("its %d tasks", n), n))
			}
		}
		if others > 0 {
			texts = append(texts, fmt.Sprintf("nor of %d other workers", others))
		}
		if text := strings.Join(texts, "; "); text != h.Silent {
			h.Silent = text
			c.effects.Blocked = append(c.effects.Blocked,
				SweepRows{Seq: a.seq, Record: a.record, Head: *h})
		}
	}
}

// heldBy lists the tasks that a worker has, and those whose attempts there have lapsed.
func (l *Ledger) heldBy(worker string) []*Task {
	return append(l.lapsedOf(worker), l.assigned[worker]...)
}

// lapsedReason is what is added to the reason of an attempt that has lapsed.
func (t *Task) lapsedReason() string {
	if t.Lapsed == task.Pending {
		return ""
	}
	return "; it goes on if that is back before another gets the task"
}
