package core

import "time"

// tickInterval is how often leases are looked at, and heldUp is after how long without that this
// process was held up itself.
const (
	tickInterval = time.Second
	heldUp       = 5 * time.Second
)

// tick runs once a second: it expires leases, ends quarantines and notifies followers why tasks
// wait.
func (c *Core) tick(q QueueStatus) {
	if c.options.Local || c.now.Sub(c.tickedAt) < tickInterval {
		return
	}
	c.expireLeases(q)
	c.endQuarantines()
	c.notifyBlocked()
	c.expireFollowers()
	c.expireSecrets()
	c.missing.expire(c.now)
	c.retryIdle = true // a worker that a task was to avoid for a while may have it now
}
