package core

import "time"

// tickInterval is how often leases are looked at, and heldUp is after how long without that this
// process was held up itself.
const (
	tickInterval = time.Second
	heldUp       = 5 * time.Second
)

// tick runs once a second, in a local run with a step that is due for another reason: it expires
// leases, ends quarantines, chooses who gathers GPUs, and tells followers why tasks wait and which
// workers are silent.
func (c *Core) tick(q QueueStatus) {
	if c.now.Sub(c.tickedAt) < tickInterval {
		return
	}
	if c.options.Local { // what it has no leases for
		c.tickedAt = c.now
		c.gather()
		c.notifyWaits()
		return
	}
	c.expireLeases(q)
	c.endQuarantines()
	c.gather()
	c.notifyBlocked()
	c.notifySilence()
	c.notifyWaits()
	c.expireSecrets()
	c.missing.expire(c.now)
	c.retryIdle = true // a worker that a task was to avoid for a while may have it now
}
