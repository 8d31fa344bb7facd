package worker

import (
	"context"

	"mlframework/sweep/task"
)

// restart begins the end of this process, if it is the one that is meant: a message that comes late must not end the next.
func (w *Worker) restart(c task.Control) {
	if c.Incarnation != w.incarnation {
		return
	}
	if c.Taken && !w.taken.Swap(true) {
		w.o.Log.Error("another process has the name of this worker and began later: what runs here is stopped", "name", w.o.Name)
	}
	w.desk.leave()
	w.beatNow()
	if c.Now {
		select {
		case w.hurry <- struct{}{}:
		default: // it was asked before
		}
	}
}

// End is why a worker ended.
type End int

// Why workers end.
const (
	ToStop       End = iota // its context ended
	ToStartAgain            // the master asked for another start
	NameTaken               // another process has its name, and began later
)

// work waits for the end of a worker that works: of ctx, or because the master asked for it and nothing runs any more, or
// nothing is to be waited for.
func (w *Worker) work(ctx context.Context) End {
	select {
	case <-ctx.Done():
		return ToStop
	case <-w.desk.empty:
	case <-w.hurry:
	}
	if w.taken.Load() {
		return NameTaken
	}
	w.o.Log.Info("the worker ends to be started again")
	return ToStartAgain
}

// leave gives back what waits and from then on all that arrives, for good.
func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leaving, d.drained = true, true
	d.takeNothing()
	d.left()
}

// left tells who waits for it that a desk which is left is empty. The caller holds the lock.
func (d *desk) left() {
	if !d.leaving || len(d.running) > 0 {
		return
	}
	select {
	case <-d.empty:
	default:
		close(d.empty)
	}
}
