package master

import (
	"context"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// republish is for how long a task may be on its way to a worker that is idle, before it is sent again: a queue that was
// purged or deleted leaves no trace.
const republish = 3 * time.Second

// doubt is an attempt of which master and worker say different things. The zero value stands for the worker itself.
type doubt struct {
	sweep  string
	index  int64
	number int
}

// since is when a doubt began: by the master's clock, and by the worker's.
type since struct{ at, theirs time.Time }

// silence is after how long without an event of a worker there is none on its way.
const silence = 5 * time.Second

// caughtUp tells whether the events that a worker sent before a doubt began were processed: after a master was away there
// may be many.
func (w *member) caughtUp(s since, now time.Time) bool {
	return !w.told.Before(s.theirs) || now.Sub(w.telling) >= silence
}

// hears notes an event of a worker.
func (w *member) hears(e task.Event, now time.Time) {
	w.telling = now
	if e.Time.After(w.told) {
		w.told = e.Time
	}
}

// compare holds what a worker says of itself against what the store says that it has. They differ all the time, as
// events and heartbeats take different ways; what counts is how long the same difference lasts.
//
//   - What runs there and does not count is told to stop, and what was asked to end is asked again.
//   - What is on its way for 3 s to a worker that waits for work is sent again, as the same attempts.
//   - What is on its way for 3 s to a worker that refuses tasks goes to others: it was refused, too.
//   - What the worker does not know for as long as a lease lasts is lost: so were its events.
func (m *Master) compare(ctx context.Context, w *member, now time.Time) {
	runs := map[doubt]bool{}
	for _, b := range w.beat.Running {
		runs[doubt{b.Sweep, b.Index, b.Attempt}] = true
		m.heard(ctx, w.kept.Name, b)
	}
	before := w.doubts
	w.doubts = nil
	if w.beat.Unsent > 0 {
		return
	}
	for id, a := range m.sweeps {
		var again []core.Task
		for _, t := range a.ledger.Held(w.kept.Name) {
			d := doubt{id, t.Index, t.Try.Number}
			if !w.doubtful(t, runs[d]) {
				continue
			}
			begin, lasts := before[d]
			if !lasts {
				begin = since{now, w.beat.Time}
			}
			switch lasted := now.Sub(begin.at); {
			case t.State == task.Queued && lasted >= republish && w.beat.Refuses != "":
				a.ledger.LoseAttempt(t.Index, t.Try.Number, "its worker "+w.kept.Name+" refuses tasks", core.Told, now)
				continue
			case t.State == task.Queued && lasted >= republish:
				again, begin.at = append(again, t), now
			case t.State != task.Queued && lasted >= m.o.Lease && w.caughtUp(begin, now):
				m.o.Log.Warn("a worker does not know an attempt any more", "worker", w.kept.Name, "task", task.ID{Sweep: id, Index: t.Index}, "attempt", t.Try.Number)
				a.ledger.LoseAttempt(t.Index, t.Try.Number, "its worker "+w.kept.Name+" does not know it any more", core.Unknown, now)
				continue
			}
			if w.doubts == nil {
				w.doubts = map[doubt]since{}
			}
			w.doubts[d] = begin
		}
		m.again(w, a, again)
	}
}

// doubtful tells whether a worker's heartbeat does not go with one of its tasks.
func (w *member) doubtful(t core.Task, runs bool) bool {
	if w.beat.Waiting > 0 || runs {
		return t.State == task.Running && !runs
	}
	return t.State != task.Queued || w.beat.Refuses != "" || len(w.beat.Running)+w.beat.Ending < w.beat.Slots && !w.beat.Draining
}

// again publishes attempts again that seem to have got lost.
func (m *Master) again(w *member, a *active, tasks []core.Task) {
	if len(tasks) == 0 {
		return
	}
	m.o.Log.Warn("tasks that are on their way to an idle worker are sent again", "worker", w.kept.Name, "sweep", a.stored.Head.ID, "tasks", len(tasks))
	l := letter{worker: w.kept.Name}
	for size := chunk(w.slots(), a.mean); len(tasks) > 0; {
		n := min(size, len(tasks))
		l.batches = append(l.batches, m.batch(a, tasks[:n]))
		tasks = tasks[n:]
	}
	m.post.add(l)
}

// heard tells the ledger what runs. A sweep that has ended holds nothing.
func (m *Master) heard(ctx context.Context, worker string, b task.Busy) {
	if a := m.sweeps[b.Sweep]; a != nil {
		a.ledger.Heard(worker, b.Index, b.Attempt)
		return
	}
	m.strange(ctx, worker, b)
	m.post.tell(worker, task.Control{Kind: task.StopControl, Sweep: b.Sweep, Index: b.Index, Attempt: b.Attempt, Reason: "superseded"})
}
