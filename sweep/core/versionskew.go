package core

import (
	"cmp"
	"fmt"
	"log/slog"

	"mlframework/sweep/task"
)

// refuseVersion takes up a worker whose program speaks another version than this one: it gets no
// tasks, and what it had goes to others, once. A process that another of its name has followed is
// not heard.
func (c *Core) refuseVersion(h *task.Heartbeat) {
	w := c.worker(h.Worker)
	known := w.newest()
	if h.Incarnation != "" && h.Incarnation < known {
		return
	}
	c.setBeat(w, task.Heartbeat{Incarnation: cmp.Or(h.Incarnation, known), Program: h.Program,
		Host: h.Host})
	w.seenAt = c.now
	c.consider(w)
	if w.otherVersion == h.Version {
		w.awayReason = "" // it may have been silent
		return
	}
	w.otherVersion = h.Version
	c.logOf(w, slog.LevelWarn,
		"a worker gets no tasks: "+task.Mismatch(h.Version, task.Version), "worker", h.Worker,
		"program", h.Program)
	c.evict(w, "", fmt.Sprintf("its worker %s speaks version %d, which this master does not read",
		h.Worker, h.Version), Vanished)
}

// dropVersion drops an event of another version. What it reports is refused with the worker's
// heartbeats.
func (c *Core) dropVersion(e *task.Event) {
	w := c.workers[e.Worker]
	if w != nil && w.droppedVersion == e.Version {
		return
	}
	c.logOf(w, slog.LevelWarn,
		"event of another version dropped, and all that follow it: "+
			task.Mismatch(e.Version, task.Version), "worker", e.Worker)
	if w != nil {
		w.droppedVersion = e.Version
	}
}
