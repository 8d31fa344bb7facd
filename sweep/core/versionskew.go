package core

import (
	"cmp"
	"fmt"
	"log/slog"

	"mlframework/sweep/task"
)

// refuseNewer takes up a worker whose program is newer than this one: it gets no tasks, and what it
// had goes to others, once. A process that another of its name has followed is not heard.
func (c *Core) refuseNewer(h *task.Heartbeat) {
	w := c.worker(h.Worker)
	known := w.newest()
	if h.Incarnation != "" && h.Incarnation < known {
		return
	}
	w.setBeat(task.Heartbeat{Incarnation: cmp.Or(h.Incarnation, known), Program: h.Program,
		Host: h.Host})
	w.seenAt = c.now
	c.consider(w)
	if w.newerVersion == h.Version {
		w.awayReason = "" // it may have been silent
		return
	}
	w.newerVersion = h.Version
	c.logOf(w, slog.LevelWarn,
		"a worker's program is newer than the master's; it gets no tasks: update the master",
		"worker", h.Worker, "program", h.Program, "version", h.Version, "understood", task.Newest)
	c.evict(w, "", fmt.Sprintf("its worker %s was replaced by one of version %d, which this "+
		"master does not read", h.Worker, h.Version), Vanished)
}

// dropNewer drops an event of a newer version. What it reports is refused with the worker's
// heartbeats.
func (c *Core) dropNewer(e *task.Event) {
	w := c.workers[e.Worker]
	if w != nil && w.droppedVersion == e.Version {
		return
	}
	c.logOf(w, slog.LevelWarn,
		"event of a newer version dropped, and all that follow it: update the master",
		"worker", e.Worker, "version", e.Version, "understood", task.Newest)
	if w != nil {
		w.droppedVersion = e.Version
	}
}
