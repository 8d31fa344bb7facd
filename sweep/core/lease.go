package core

import (
	"fmt"
	"log/slog"
)

// expireLeases takes everything from workers whose lease has ended. While the queue is down no
// heartbeat can come, and after that, or after this process was held up, every lease is whole
// again.
func (c *Core) expireLeases(q QueueStatus) {
	limit := min(heldUp, max(2*tickInterval, c.options.Lease/3))
	if c.tickedAt.IsZero() || c.now.Sub(c.tickedAt) > limit {
		c.leasesRenewedAt = c.now
	}
	c.tickedAt = c.now
	if q.Down {
		c.leasesRenewedAt = c.now
		return
	}
	if q.Since.After(c.leasesRenewedAt) {
		c.leasesRenewedAt = q.Since
	}
	for _, w := range c.ordered {
		last := w.seenAt
		if c.leasesRenewedAt.After(last) {
			last = c.leasesRenewedAt
		}
		switch silent := c.now.Sub(last) >= c.options.Lease; {
		case silent && (w.awayReason == "" || len(w.assigned) > 0): // a late event can assign more
			name := w.record.Name
			if w.awayReason == "" {
				c.log(slog.LevelWarn, "a worker is away: its tasks are rescheduled",
					"worker", name, "lease", c.options.Lease)
			}
			c.evict(w, fmt.Sprintf("no heartbeat for %s", c.options.Lease),
				fmt.Sprintf("its worker %s was silent for %s", name, c.options.Lease), LeaseEnded)
		case !silent && w.awayReason == "" && w.otherVersion == 0 &&
			w.beat.Incarnation > w.record.Incarnation:
			c.awaitRegistration(w)
		}
	}
}

// awaitRegistration takes up a process that speaks for a lease and whose registration does not
// come: a broker that came back empty has lost it.
func (c *Core) awaitRegistration(w *worker) {
	m := w.unregistered
	if m == nil || w.beat.Unsent > 0 {
		w.unregistered = &mismatch{c.now, w.beat.Time}
	} else if c.now.Sub(m.since) >= c.settleAfter() && w.caughtUp(*m, c.now) {
		c.join(&w.beat)
	}
}
