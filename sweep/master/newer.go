package master

import (
	"cmp"
	"fmt"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// refuse takes up what a worker says whose program is newer than this one: it gets no tasks, and what it had goes to others,
// once. A process that another of its name has followed is not heard.
func (m *Master) refuse(h task.Heartbeat) {
	w := m.member(h.Worker)
	known := cmp.Or(w.beat.Incarnation, w.kept.Incarnation)
	if h.Incarnation != "" && h.Incarnation < known {
		return
	}
	w.beat = task.Heartbeat{Incarnation: cmp.Or(h.Incarnation, known), Program: h.Program, Host: h.Host}
	w.seen = m.o.Now()
	if w.newer == h.Version {
		w.away = "" // it may have been silent
		return
	}
	w.newer = h.Version
	m.o.Log.Warn("a worker's program is newer than the master's; it gets no tasks: update the master", "worker", h.Worker, "program", h.Program,
		"version", h.Version, "understood", task.Newest)
	m.lose(w, "", fmt.Sprintf("its worker %s was replaced by one of version %d, which this master does not read", h.Worker, h.Version), core.Unknown)
}

// refused says why a worker's program gets no tasks; "": it may.
func (w *member) refused() string {
	if w.newer > 0 {
		return fmt.Sprintf("its program speaks version %d and the master reads up to %d: update the master", w.newer, task.Newest)
	}
	return w.beat.Refuses
}

// unread drops an event of a newer version. What it tells of is refused with the worker's heartbeats.
func (m *Master) unread(e task.Event) {
	w := m.workers[e.Worker]
	if w != nil && w.dropped == e.Version {
		return
	}
	m.o.Log.Warn("event of a newer version dropped, and all that follow it: update the master", "worker", e.Worker, "version", e.Version, "understood", task.Newest)
	if w != nil {
		w.dropped = e.Version
	}
}
