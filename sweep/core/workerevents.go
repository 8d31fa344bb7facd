package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// event gives an event to its sweep's ledger. One of a sweep that is in no store is dropped. It
// returns how old the event is, and whether its worker is known.
func (c *Core) event(e *task.Event) (lag time.Duration, known bool) {
	if e.Version > task.Newest {
		c.dropNewer(e)
		return 0, false
	}
	switch {
	case e.Kind == task.JoinedEvent && e.Beat != nil:
		c.join(e.Beat)
		return 0, false
	case e.Kind == task.LeftEvent && e.Beat != nil:
		c.leave(e.Beat)
		return 0, false
	}
	a := c.sweeps[e.Sweep]
	if a == nil {
		c.log(slog.LevelWarn, "event of an unknown sweep dropped", "worker", e.Worker, "sweep", e.Sweep)
		if e.Sweep != "" {
			c.missing.note(e.Sweep, e.Worker, e.Index, false, c.now)
		}
		return 0, false
	}
	if !c.options.Local && a.ledger.Ahead(*e) {
		c.missing.note(e.Sweep, e.Worker, e.Index, true, c.now)
	}
	w := c.workers[e.Worker]
	if w != nil {
		w.noteEvent(e, c.now)
		w.noteLeftovers(e, c.now)
		lag = w.lag(e, c.now)
	}
	l := c.ledger(a)
	if w != nil && w.unfit(e) {
		l.Excuse(*e, c.now)
	} else {
		l.Event(*e, c.now)
	}
	c.began(a, e)
	a.learn(e.Outcome)
	if w != nil && e.Kind == task.EndedEvent && e.Outcome != nil {
		c.judge(w, e.Outcome)
	}
	return lag, w != nil
}

// began notes in which image an attempt began.
func (c *Core) began(a *activeSweep, e *task.Event) {
	if e.Start == nil || e.Start.Image == "" {
		return
	}
	if r, changed := a.record.RanIn(e.Start.Image, e.Worker); changed {
		c.rewrite(a, r)
	}
}

// rewrite changes the record of a sweep.
func (c *Core) rewrite(a *activeSweep, r Record) {
	a.record, a.points, a.rewritten = r, r.Points(), true
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
