package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// resendAfter is how long a task may be on its way to a worker that is idle, before it is sent
// again: a queue that was purged or deleted leaves no trace.
const resendAfter = 3 * time.Second

// caughtUpAfter is after how long without an event of a worker there is none on its way.
const caughtUpAfter = 5 * time.Second

// attemptKey names an attempt.
type attemptKey struct {
	sweep  string
	index  int64
	number int
}

func keyOf(b *task.Busy) attemptKey { return attemptKey{b.Sweep, b.Index, b.Attempt} }

// mismatch is since when a worker and the store say different things: by the master's clock, and
// by the worker's.
type mismatch struct{ since, theirs time.Time }

// caughtUp reports whether the events were processed that a worker sent before a mismatch began:
// after a master was away there may be many.
func (w *worker) caughtUp(m mismatch, now time.Time) bool {
	return !w.lastEventTime.Before(m.theirs) || now.Sub(w.lastEventAt) >= caughtUpAfter
}

// noteEvent notes when a worker's newest event was made and came.
func (w *worker) noteEvent(e *task.Event, now time.Time) {
	w.lastEventAt = now
	if e.Time.After(w.lastEventTime) {
		w.lastEventTime = e.Time
	}
}

// reconcile compares what a worker says of itself with what the store says that it has. They
// differ all the time, as events and heartbeats take different ways; what counts is how long the
// same difference lasts.
//
//   - What runs there and does not count is told to stop, and what was asked to end is asked again.
//   - What is on its way for 3 s to a worker that waits for work is sent again, as the same attempts.
//   - What is on its way for 3 s to a worker that refuses tasks goes to others: it was refused, too.
//   - What the worker does not know for as long as a lease lasts is lost: so were its events.
func (c *Core) reconcile(w *worker) {
	for i := range w.beat.Running {
		c.confirmRunning(w, &w.beat.Running[i])
	}
	before := w.mismatches
	w.mismatches = nil
	if w.beat.Unsent > 0 {
		return
	}
	for _, h := range w.assigned {
		a := h.sweep
		var again []*Task
		for _, t := range c.mismatched(w, a) {
			key := attemptKey{a.id(), t.Index, t.Attempt.Number}
			begin, lasts := before[key]
			if !lasts {
				begin = mismatch{c.now, w.beat.Time}
			}
			if settled, resend := c.resolve(w, a, t, begin); settled {
				continue
			} else if resend {
				again, begin.since = append(again, t), c.now
			}
			if w.mismatches == nil {
				w.mismatches = map[attemptKey]mismatch{}
			}
			w.mismatches[key] = begin
		}
		c.resend(w, a, again)
	}
}

// resolve ends a mismatch that has lasted: the attempt is lost, or to be sent again.
func (c *Core) resolve(w *worker, a *activeSweep, t *Task, begin mismatch) (settled, resend bool) {
	name, lasted := w.record.Name, c.now.Sub(begin.since)
	switch {
	case t.State == task.Queued && lasted >= resendAfter && w.beat.Refuses != "":
		c.ledger(a).LoseAttempt(t.Index, t.Attempt.Number, "its worker "+name+" refuses tasks", SignedOff, c.now)
		return true, false
	case t.State == task.Queued && lasted >= resendAfter:
		return false, true
	case t.State != task.Queued && lasted >= c.options.Lease && w.caughtUp(begin, c.now):
		c.logOf(w, slog.LevelWarn, "a worker does not know an attempt any more", "worker", name,
			"task", task.ID{Sweep: a.id(), Index: t.Index}, "attempt", t.Attempt.Number)
		c.ledger(a).LoseAttempt(t.Index, t.Attempt.Number, "its worker "+name+" does not know it any more", Vanished, c.now)
		return true, false
	}
	return false, false
}

// runs reports whether a worker says that it runs an attempt.
func (w *worker) runs(key attemptKey) bool {
	for i := range w.beat.Running {
		if b := &w.beat.Running[i]; b.Index == key.index && keyOf(b) == key {
			return true
		}
	}
	return false
}

// mismatched lists the tasks of a sweep that a worker has and its heartbeat does not go with.
func (c *Core) mismatched(w *worker, a *activeSweep) (tasks []*Task) {
	room := freeOf(&w.beat).Fits(a.ledger.needs())
	for _, t := range a.ledger.assigned[w.record.Name] {
		if w.contradicts(t, room, w.runs(attemptKey{a.id(), t.Index, t.Attempt.Number})) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// contradicts reports whether a worker's heartbeat does not go with one of its tasks, which it runs
// or has room for, as it says.
func (w *worker) contradicts(t *Task, room, runs bool) bool {
	if w.beat.Waiting > 0 || runs {
		return t.State == task.Running && !runs
	}
	return t.State != task.Queued || w.beat.Refuses != "" || room && !w.beat.Draining
}

// resend publishes attempts again that seem to have got lost.
func (c *Core) resend(w *worker, a *activeSweep, tasks []*Task) {
	if len(tasks) == 0 {
		return
	}
	c.logOf(w, slog.LevelWarn, "tasks that are on their way to an idle worker are sent again",
		"worker", w.record.Name, "sweep", a.id(), "tasks", len(tasks))
	m := Message{Worker: w.record.Name}
	for size := batchSize(w.usable().Count(a.ledger.needs()), a.mean); len(tasks) > 0; {
		n := min(size, len(tasks))
		m.Batches = append(m.Batches, c.batch(a, tasks[:n]))
		tasks = tasks[n:]
	}
	c.send(m)
}

// confirmRunning takes note of what a worker runs. A sweep that has ended holds nothing.
func (c *Core) confirmRunning(w *worker, b *task.Busy) {
	name := w.record.Name
	a := c.sweeps[b.Sweep]
	if c.damaged[b.Sweep] {
		return
	}
	if a == nil {
		if c.unknown[b.Sweep] {
			c.missing.note(b.Sweep, name, b.Index, false, c.now)
		}
		if w.mayStop(c.now) {
			c.sendControl(name, task.Control{Kind: task.StopControl, Sweep: b.Sweep, Index: b.Index,
				Attempt: b.Attempt, Reason: "superseded"})
		}
		return
	}
	if !a.ledger.isAssigned(name, b.Index, b.Attempt) && !w.mayStop(c.now) {
		return
	}
	if a.ledger.ConfirmRunning(name, b.Index, b.Attempt) {
		c.ledger(a)
	}
}

// maxStops bounds how often in a second a worker is told to stop attempts that do not count. What
// it says may be made up; of what runs there the next heartbeats tell again.
const maxStops = 512

// mayStop reports whether a worker may be told to stop one more attempt now.
func (w *worker) mayStop(now time.Time) bool {
	return w.stops.add(now, time.Second) <= maxStops
}
