package core

import (
	"maps"
	"slices"

	"mlframework/sweep/task"
)

// followed reports whether a sweep's output is followed.
func (c *Core) followed(sweep string) bool { return c.memory.Followers[sweep] > 0 }

// follow counts followers of a sweep's output, and notifies the workers of the first and the last.
func (c *Core) follow(sweep string, more int) {
	before := c.memory.Followers[sweep]
	c.memory.Followers[sweep] = before + more
	if before+more == 0 {
		delete(c.memory.Followers, sweep)
	}
	if before == 0 || before+more == 0 {
		c.sendFollowToAll(sweep, more > 0)
	}
}

func (c *Core) sendFollowToAll(sweep string, on bool) {
	for _, w := range c.ordered {
		c.sendFollow(w.record.Name, sweep, on)
	}
}

// sendFollowed sends a worker what is followed.
func (c *Core) sendFollowed(w *worker) {
	for _, sweep := range slices.Sorted(maps.Keys(c.memory.Followers)) {
		c.sendFollow(w.record.Name, sweep, true)
	}
}

func (c *Core) sendFollow(worker, sweep string, on bool) {
	c.sendControl(worker, task.Control{Kind: task.FollowControl, Sweep: sweep, Off: !on})
}
