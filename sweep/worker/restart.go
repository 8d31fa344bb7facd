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
	w.desk.leave()
	w.beatNow()
	if c.Now {
		select {
		case w.hurry <- struct{}{}:
		default: // it was asked before
		}
	}
}

// work waits for the end of a worker that works: of ctx, or because it is to start again and nothing runs any more, or
// nothing is to be waited for.
func (w *Worker) work(ctx context.Context) (again bool) {
	select {
	case <-ctx.Done():
		return false
	case <-w.desk.empty:
	case <-w.hurry:
	}
	w.o.Log.Info("the worker ends to be started again")
	return true
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
