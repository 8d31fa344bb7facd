package core

import (
	"fmt"
	"strings"
	"time"

	"mlframework/sweep/task"
)

const (
	// silentAfter is how long a worker may send no heartbeat before it counts as silent: by then
	// five heartbeats are missing.
	silentAfter = 10 * time.Second
	// maxSilent is the maximum number of silent workers that a text names.
	maxSilent = 3
)

// silence returns how long a worker has sent no heartbeat while the queue worked, in whole seconds.
// It returns 0 for a worker that is not silent.
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

// silentText returns "no heartbeat from w1 for 45s: its 2 tasks are rescheduled when that reaches
// 2m0s" or, once the lease has ended, "no heartbeat from w1 for 2m5s: its 2 tasks continue if it
// reconnects before they are rescheduled".
func (c *Core) silentText(w *worker, tasks string, n int) string {
	text := fmt.Sprintf("no heartbeat from %s for %s: %s ", w.record.Name, c.silence(w), tasks)
	switch one := n == 1; {
	case w.awayReason == "" && one:
		return text + fmt.Sprintf("is rescheduled when that reaches %s", c.options.Lease)
	case w.awayReason == "":
		return text + fmt.Sprintf("are rescheduled when that reaches %s", c.options.Lease)
	case one:
		return text + "continues if the worker reconnects before it is rescheduled"
	}
	return text + "continue if it reconnects before they are rescheduled"
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

// silentTasks returns, by index, what happens to the tasks of a sweep on silent workers.
func (c *Core) silentTasks(a *activeSweep) map[int64]string {
	texts := map[int64]string{}
	for _, w := range c.silentWorkers() {
		for _, t := range a.ledger.heldBy(w.record.Name) {
			texts[t.Index] = c.silentText(w, "the task", 1)
		}
	}
	return texts
}

// notifySilence tells the followers of sweeps, every second, which workers with tasks of their
// sweeps are silent.
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
			texts = append(texts, fmt.Sprintf("no heartbeat from %d other workers", others))
		}
		if text := strings.Join(texts, "; "); text != h.Silent {
			h.Silent = text
			c.effects.Blocked = append(c.effects.Blocked,
				SweepRows{Seq: a.seq, Record: a.record, Head: *h})
		}
	}
}

// heldBy lists the tasks of a worker, including those whose attempts there have lapsed.
func (l *Ledger) heldBy(worker string) []*Task {
	return append(l.lapsedOf(worker), l.assigned[worker]...)
}

// lapsedReason returns the text that is added to the reason of a lapsed attempt.
func (t *Task) lapsedReason() string {
	if t.Lapsed == task.Pending {
		return ""
	}
	return "; it continues if the worker reconnects before the task is rescheduled"
}
