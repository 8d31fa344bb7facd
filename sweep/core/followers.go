package core

import (
	"maps"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// expectFor is how long a sweep's output is wanted for a follower that was announced.
const expectFor = 10 * time.Second

// followed reports whether a sweep's output is followed, or about to be.
func (c *Core) followed(sweep string) bool {
	_, expected := c.memory.Expected[sweep]
	return expected || c.memory.Followers[sweep] > 0
}

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

// expireFollowers gives up waiting for followers that were announced and did not come.
func (c *Core) expireFollowers() {
	for _, sweep := range slices.Sorted(maps.Keys(c.memory.Expected)) {
		if c.now.Before(c.memory.Expected[sweep]) {
			continue
		}
		delete(c.memory.Expected, sweep)
		if c.memory.Followers[sweep] == 0 {
			c.sendFollowToAll(sweep, false)
		}
	}
}

func (c *Core) sendFollowToAll(sweep string, on bool) {
	for _, w := range c.ordered {
		c.sendFollow(w.record.Name, sweep, on)
	}
}

// sendFollowed sends a worker what is followed and, with expected, what is about to be.
func (c *Core) sendFollowed(w *worker, expected bool) {
	for _, sweep := range slices.Sorted(maps.Keys(c.memory.Followers)) {
		c.sendFollow(w.record.Name, sweep, true)
	}
	if expected {
		for _, sweep := range slices.Sorted(maps.Keys(c.memory.Expected)) {
			c.sendFollow(w.record.Name, sweep, true)
		}
	}
}

func (c *Core) sendFollow(worker, sweep string, on bool) {
	c.sendControl(worker, task.Control{Kind: task.FollowControl, Sweep: sweep, Off: !on})
}
