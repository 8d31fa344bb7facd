package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// Event is what a worker says of an attempt, or of itself, and what the store says of that.
type Event struct {
	task.Event
	Origin Origin
}

// Origin is what the store says of an event's attempt.
type Origin uint8

const (
	// OriginAssigned is that the attempt was placed on the worker.
	OriginAssigned Origin = iota
	// OriginReturned is that the attempt was returned before it started: a message that came twice
	// may still start it.
	OriginReturned
	// OriginForeign is that the worker does not have the attempt and never had it.
	OriginForeign
)

// OriginOf returns the origin of what a worker says of an attempt that does not count. The store
// says on which worker the attempt was placed ("": it does not exist, or was given back), and which
// is the newest of the task.
func OriginOf(worker string, attempt int, placedOn string, newest int) Origin {
	switch {
	case placedOn == worker && placedOn != "":
		return OriginAssigned
	case placedOn != "" || attempt < 1 || attempt > newest:
		return OriginForeign
	}
	return OriginReturned
}

// IsCurrent reports whether an event is of an attempt that counts: the newest of its task, on the
// worker that it was placed on. Its origin is OriginAssigned then.
func (c *Core) IsCurrent(e *task.Event) bool {
	a := c.sweeps[e.Sweep]
	return a != nil && a.ledger.IsCurrent(e)
}

// event gives an event to its sweep's ledger. One of a sweep that is in no store, or cannot be
// read there, is dropped.
func (c *Core) event(e *Event, done *Output) {
	if task.Foreign(e.Version) {
		c.dropVersion(&e.Event)
		return
	}
	switch {
	case e.Kind == task.JoinedEvent && e.Heartbeat != nil:
		c.join(e.Heartbeat)
		return
	case e.Kind == task.LeftEvent && e.Heartbeat != nil:
		c.leave(e.Heartbeat)
		return
	}
	a := c.sweeps[e.Sweep]
	if a == nil {
		if c.unknown[e.Sweep] && c.missing.note(e.Sweep, e.Worker, e.Index, false, c.now) {
			c.logOf(c.workers[e.Worker], slog.LevelWarn,
				"events of an unknown sweep are dropped", "worker", e.Worker,
				"sweep", e.Sweep)
		}
		return
	}
	if !c.options.Local && a.ledger.NeverPlaced(&e.Event) {
		c.missing.note(e.Sweep, e.Worker, e.Index, true, c.now)
	}
	w := c.workers[e.Worker]
	if w != nil {
		w.noteEvent(&e.Event, c.now)
		done.Events++
		done.Lag = max(done.Lag, w.lag(&e.Event, c.now))
	}
	if e.Origin != OriginAssigned {
		c.rejectEvent(a, w, e, done)
		return
	}
	c.ownEvent(a, w, &e.Event)
}

// ownEvent takes what a worker says of an attempt that was placed on it.
func (c *Core) ownEvent(a *activeSweep, w *worker, e *task.Event) {
	l := c.ledger(a)
	if w != nil {
		w.noteLeftovers(e, c.now)
	}
	before, counts := len(l.changes.Controls), l.IsCurrent(e)
	if w != nil && w.unfit(e) {
		l.EndOnUnfitHost(e, c.now)
	} else {
		l.Event(c.boundSamples(l, w, e), c.now)
	}
	sent := len(l.changes.Controls) > before
	if sent && !counts && (w == nil || !w.mayStop(c.now)) {
		l.changes.Controls = l.changes.Controls[:before]
	}
	c.noteImage(a, e)
	a.updateMean(e.Outcome)
	if w != nil && e.Kind == task.EndedEvent && e.Outcome != nil {
		c.noteHostFaults(w, e.Outcome)
	}
}

// rejectEvent answers what a worker says of an attempt that was not placed on it: that changes
// nothing.
func (c *Core) rejectEvent(a *activeSweep, w *worker, e *Event, done *Output) {
	if w != nil && w.mayStop(c.now) {
		c.ledger(a).Reject(&e.Event)
	}
	if e.Origin == OriginReturned {
		return
	}
	done.Refused++
	if w != nil && !w.foreignLogged {
		c.logOf(w, slog.LevelWarn,
			"a worker reports an attempt that was not placed on it; that is not kept",
			"worker", e.Worker, "task", e.ID(), "attempt", e.Attempt, "event", e.Kind)
		w.foreignLogged = true
	}
}

// noteImage notes in which image an attempt started.
func (c *Core) noteImage(a *activeSweep, e *task.Event) {
	if e.Start == nil || e.Start.Image == "" {
		return
	}
	if r, changed := a.record.RanIn(e.Start.Image, e.Worker); changed {
		c.rewrite(a, r)
	}
}

// rewrite changes the record of a sweep.
func (c *Core) rewrite(a *activeSweep, r Record) {
	a.setRecord(r)
	a.rewritten = true
	c.ledger(a)
}

// lag is how old an event is, by the difference of the clocks that heartbeats show.
func (w *worker) lag(e *task.Event, now time.Time) time.Duration {
	lag := now.Sub(e.Time)
	if !w.seenAt.IsZero() && !w.beat.Time.IsZero() {
		lag -= w.seenAt.Sub(w.beat.Time)
	}
	return lag
}
