package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Rival says that two processes had the name of one worker. Tasks of that name go to either of
// them, and the master, which hears one, would take those of the other for lost after a lease.
type Rival struct {
	Worker string
	Host   string // of the process that started first
	Since  time.Time
}

// String is cause and remedy.
func (r Rival) String() string {
	return fmt.Sprintf("two processes have the name %s: the one on %s, which began first, is told "+
		"to end, and what it runs is run again; give each worker a name of its own",
		r.Worker, r.Host)
}

// Rivals lists, by name, the workers whose name two processes had until less than a lease before
// now.
func (c *Core) Rivals(now time.Time) (all []Rival) {
	for _, w := range c.ordered {
		if now.Sub(w.rivalAt) < c.options.Lease {
			all = append(all, w.rival)
		}
	}
	return all
}

// olderProcesses are the processes of a worker's name that started before the one that is known,
// and are ignored.
type olderProcesses struct {
	since time.Time // since when only they speak; zero: they do not
	all   []olderProcess
}

type olderProcess struct {
	incarnation string
	host        string
	spoke       bool // since the one that is known spoke last
	turns       int  // how often it spoke after the one that is known did
}

// maxOlder bounds the older processes that are distinguished.
const maxOlder = 8

func (o *olderProcesses) heard(h *task.Heartbeat) {
	at := slices.IndexFunc(o.all, func(p olderProcess) bool {
		return p.incarnation == h.Incarnation
	})
	if at < 0 {
		if len(o.all) == maxOlder {
			o.all = slices.Delete(o.all, 0, 1)
		}
		at = len(o.all)
		o.all = append(o.all, olderProcess{incarnation: h.Incarnation})
	}
	o.all[at].host, o.all[at].spoke = h.Host, true
}

// refuseOlder is called when the process that is known speaks. One that started before it, and has
// spoken twice in turn with it, is alive beside it: it is asked to end. Once may be a heartbeat
// that was on its way.
func (c *Core) refuseOlder(w *worker) {
	w.older.since = time.Time{}
	if c.options.Local {
		return
	}
	for i := range w.older.all {
		o := &w.older.all[i]
		if !o.spoke {
			continue
		}
		o.spoke = false
		if o.turns++; o.turns >= 2 {
			c.endOlder(w, o)
		}
	}
}

// endOlder asks a process to end whose name another process has.
func (c *Core) endOlder(w *worker, o *olderProcess) {
	name := w.record.Name
	if c.now.Sub(w.rivalAt) >= c.options.Lease {
		w.rival = Rival{name, o.host, c.now}
		c.log(slog.LevelWarn, "two processes have the name of one worker: the one that began "+
			"first is told to end", "worker", name, "host", o.host, "incarnation", o.incarnation)
	}
	w.rivalAt = c.now
	c.sendControl(name, task.Control{Kind: task.RestartControl, Incarnation: o.incarnation,
		Now: true, Taken: true, Reason: "another process has its name"})
}

// adoptOlder accepts a process that seems to have started before the one that is known if for a
// lease no other speaks: the clock of its host was set back, and what it kept of its starts is
// gone. It reports whether it did.
func (c *Core) adoptOlder(w *worker, h *task.Heartbeat) bool {
	w.older.heard(h)
	switch alive := !w.seenAt.IsZero() && c.now.Sub(w.seenAt) < c.options.Lease; {
	case w.older.since.IsZero():
		c.logOf(w, slog.LevelWarn,
			"a worker's process is not heard, as another of its name began later",
			"worker", h.Worker, "not heard", h.Incarnation)
		w.older.since = c.now
		return false
	case alive:
		w.older.since = c.now
		return false
	case c.now.Sub(w.older.since) < c.options.Lease:
		return false
	}
	c.evict(w, "", "its worker "+h.Worker+" ended and began anew", Vanished)
	c.register(w, h)
	w.older = olderProcesses{}
	return true
}
