package core

import (
	"cmp"
	"log/slog"
	"slices"
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

func compareKeys(a, b attemptKey) int {
	if a.index != b.index {
		return cmp.Compare(a.index, b.index)
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.sweep, b.sweep))
}

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
//   - What runs there and does not count is stopped, and requests to stop attempts are repeated.
//   - What is on its way for 3 s to a worker that waits for work is sent again, as the same
//     attempts.
//   - What is on its way for 3 s to a worker that refuses tasks goes to others: it was refused,
//     too.
//   - What the worker does not know for as long as a lease lasts is lost: so were its events.
func (c *Core) reconcile(w *worker) {
	free := w.beat.Slots - w.beat.Ending
	c.running = c.running[:0]
	for i := range w.beat.Running {
		b := &w.beat.Running[i]
		c.confirmRunning(w, b)
		c.running = append(c.running, keyOf(b))
		if a := c.sweeps[b.Sweep]; a != nil {
			free -= w.slotsFor(&a.ledger.needs)
		} else {
			free--
		}
	}
	slices.SortFunc(c.running, compareKeys)
	before := w.mismatches
	w.mismatches = nil
	if w.beat.Unsent > 0 {
		return
	}
	for _, h := range w.assigned {
		a := h.sweep
		var unarrived []*Task
		for _, t := range c.mismatched(w, a, free) {
			key := attemptKey{a.id(), t.Index, t.Attempt.Number}
			m, lasts := before[key]
			if !lasts {
				m = mismatch{c.now, w.beat.Time}
			}
			if settled, resend := c.resolve(w, a, t, m); settled {
				continue
			} else if resend {
				unarrived, m.since = append(unarrived, t), c.now
			}
			if w.mismatches == nil {
				w.mismatches = map[attemptKey]mismatch{}
			}
			w.mismatches[key] = m
		}
		c.resend(w, a, unarrived)
	}
}

// settleAfter is how long a heartbeat of a worker has to contradict what is known of it, until it
// counts: a short lease, or 30 s.
func (c *Core) settleAfter() time.Duration { return min(c.options.Lease, 30*time.Second) }

// resolve ends a mismatch that has lasted: the attempt is lost, or to be sent again.
func (c *Core) resolve(w *worker, a *activeSweep, t *Task, m mismatch) (settled, resend bool) {
	name, lasted := w.record.Name, c.now.Sub(m.since)
	switch {
	case t.State == task.Queued && lasted >= resendAfter && w.beat.Refuses != "":
		c.ledger(a).MarkAttemptLost(t.Index, t.Attempt.Number, "its worker "+name+" refuses tasks",
			SignedOff, c.now)
		return true, false
	case t.State == task.Queued && lasted >= resendAfter:
		return false, true
	case t.State != task.Queued && lasted >= c.settleAfter() && w.caughtUp(m, c.now):
		c.logOf(w, slog.LevelWarn, "a worker does not know an attempt any more", "worker", name,
			"task", task.ID{Sweep: a.id(), Index: t.Index}, "attempt", t.Attempt.Number)
		c.ledger(a).MarkAttemptLost(t.Index, t.Attempt.Number,
			"its worker "+name+" does not know it any more", Vanished, c.now)
		return true, false
	}
	return false, false
}

// mismatched lists the tasks of a sweep that a worker has and its heartbeat contradicts. Free is
// the slots that the attempts leave which it runs.
func (c *Core) mismatched(w *worker, a *activeSweep, free int) (tasks []*Task) {
	fits := free >= w.slotsFor(&a.ledger.needs)
	for _, t := range a.ledger.assigned[w.record.Name] {
		key := attemptKey{a.id(), t.Index, t.Attempt.Number}
		_, runs := slices.BinarySearchFunc(c.running, key, compareKeys)
		if w.contradicts(t, fits, runs) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// contradicts reports whether a worker's heartbeat contradicts that it has a task. By the heartbeat
// it runs the task, or the task fits beside what runs.
func (w *worker) contradicts(t *Task, fits, runs bool) bool {
	if w.beat.Waiting > 0 || runs {
		return t.State == task.Running && !runs
	}
	return t.State != task.Queued || w.beat.Refuses != "" || fits && !w.beat.Draining
}

// resend publishes attempts again that seem to have got lost.
func (c *Core) resend(w *worker, a *activeSweep, tasks []*Task) {
	if len(tasks) == 0 {
		return
	}
	c.logOf(w, slog.LevelWarn, "tasks that are on their way to an idle worker are sent again",
		"worker", w.record.Name, "sweep", a.id(), "tasks", len(tasks))
	m := Message{Worker: w.record.Name}
	for size := batchSize(w.fit(a), a.mean); len(tasks) > 0; {
		n := min(size, len(tasks))
		m.Batches = append(m.Batches, c.batch(w, a, tasks[:n]))
		tasks = tasks[n:]
	}
	c.send(m)
}

// confirmRunning takes note of what a worker runs. A sweep that has ended holds nothing.
func (c *Core) confirmRunning(w *worker, b *task.Busy) {
	name := w.record.Name
	a := c.sweeps[b.Sweep]
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
	if a.ledger.current(name, b.Index, b.Attempt) == nil && !w.mayStop(c.now) {
		return
	}
	if a.ledger.ConfirmRunning(name, b.Index, b.Attempt) {
		c.ledger(a)
	}
}
