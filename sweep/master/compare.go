package master

import (
	"time"

	"mlframework/sweep"
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

// compare holds what a worker says of itself against what the store says that it has. They differ all the time, as
// events and heartbeats take different ways; what counts is how long the same difference lasts.
//
//   - What runs there and does not count is told to stop, and what was asked to end is asked again.
//   - What is on its way for 3 s to a worker that waits for work is sent again, as the same attempts.
//   - What the worker does not know for as long as a lease lasts is lost: so were its events.
func (m *Master) compare(w *member, now time.Time) {
	runs := map[doubt]bool{}
	for _, b := range w.beat.Running {
		runs[doubt{b.Sweep, b.Index, b.Attempt}] = true
		m.heard(w.kept.Name, b)
	}
	before := w.doubts
	w.doubts = nil
	if w.beat.Unsent > 0 {
		return
	}
	for id, a := range m.sweeps {
		var again []sweep.Task
		for _, t := range a.ledger.Held(w.kept.Name) {
			d := doubt{id, t.Index, t.Try.Number}
			if !w.doubtful(t, runs[d]) {
				continue
			}
			since, lasts := before[d]
			if !lasts {
				since = now
			}
			switch lasted := now.Sub(since); {
			case t.State == task.Queued && lasted >= republish:
				again, since = append(again, t), now
			case t.State != task.Queued && lasted >= m.o.Lease:
				m.o.Log.Warn("a worker does not know an attempt any more", "worker", w.kept.Name, "task", task.ID{Sweep: id, Index: t.Index}, "attempt", t.Try.Number)
				a.ledger.LoseAttempt(t.Index, t.Try.Number, "its worker "+w.kept.Name+" does not know it any more", now)
				continue
			}
			if w.doubts == nil {
				w.doubts = map[doubt]time.Time{}
			}
			w.doubts[d] = since
		}
		m.again(w.kept.Name, a, again)
	}
}

// doubtful tells whether a worker's heartbeat does not go with one of its tasks.
func (w *member) doubtful(t sweep.Task, runs bool) bool {
	if w.beat.Waiting > 0 || runs {
		return t.State == task.Running && !runs
	}
	return t.State != task.Queued || len(w.beat.Running) < w.beat.Slots && !w.beat.Draining
}

// again publishes attempts again that seem to have got lost.
func (m *Master) again(worker string, a *active, tasks []sweep.Task) {
	if len(tasks) == 0 {
		return
	}
	m.o.Log.Warn("tasks that are on their way to an idle worker are sent again", "worker", worker, "sweep", a.stored.Head.ID, "tasks", len(tasks))
	l := letter{worker: worker}
	for size := chunk(a.mean); len(tasks) > 0; {
		n := min(size, len(tasks))
		l.batches = append(l.batches, a.batch(tasks[:n]))
		tasks = tasks[n:]
	}
	m.post.add(l)
}

// heard tells the ledger what runs. A sweep that has ended holds nothing.
func (m *Master) heard(worker string, b task.Busy) {
	if a := m.sweeps[b.Sweep]; a != nil {
		a.ledger.Heard(worker, b.Index, b.Attempt)
		return
	}
	m.post.tell(worker, task.Control{Kind: task.StopControl, Sweep: b.Sweep, Index: b.Index, Attempt: b.Attempt, Reason: "superseded"})
}
