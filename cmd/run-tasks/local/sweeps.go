package local

import (
	"context"
	"errors"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// ListedAsRunning reports whether the store has a sweep as running.
func ListedAsRunning(h core.Head) bool {
	return h.State == core.Open || h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] > 0
}

// Running lists the sweeps that run, or are about to; damaged ones do not. The runner ends if the
// store cannot be read. It does not log: [server.Attachments] calls it.
func (r *Runner) Running() (ids []string) {
	stored, _, err := r.store.ActiveSweeps(r.ctx)
	if err != nil {
		r.cancel(err)
	}
	damaged := r.master.Damaged()
	for _, s := range stored {
		refused := slices.ContainsFunc(damaged, func(err error) bool {
			d, is := errors.AsType[*store.DamagedSweep](err)
			return is && d.ID == s.Head.ID
		})
		if ListedAsRunning(s.Head) && !refused {
			ids = append(ids, s.Head.ID)
		}
	}
	return ids
}

// idle reports whether no sweep runs, or is about to run at the end of another.
func (r *Runner) idle() bool {
	if len(r.Running()) > 0 {
		return false
	}
	ended, err := r.store.SweepsWithNotices(r.ctx)
	if err != nil {
		r.cancel(err)
	}
	if slices.ContainsFunc(ended, func(s store.Sweep) bool { return s.Record.AwaitsOnEnd() }) {
		return false
	}
	return len(r.Running()) == 0 // one may have been submitted meanwhile
}

// AwaitIdle waits until a sweep is idle, and reports whether it is: false when ctx ended before.
func (r *Runner) AwaitIdle(ctx context.Context, id string) bool {
	watcher, done, err := r.master.Watch(r.ctx, id, api.DetailCounts)
	if err != nil {
		return false
	}
	defer done()
	for {
		u, err := watcher.Next(ctx)
		if err != nil || u.Closed {
			return false
		}
		if u.Idle() {
			return true
		}
	}
}

// pauseAll pauses every sweep that runs.
func (r *Runner) pauseAll(reason string) {
	for _, id := range r.Running() {
		err := r.master.Pause(r.ctx, id, reason, false)
		if err != nil && r.ctx.Err() == nil { // it may have ended
			r.log.Warn("the sweep is not paused", "sweep", id, "reason", reason, "error", err)
		}
	}
}

// pauseWithoutRoom pauses all running sweeps whenever the output disk gets full: there is no other
// worker.
func (r *Runner) pauseWithoutRoom() {
	for {
		select {
		case reason := <-r.noRoom:
			r.pauseAll(reason)
		case <-r.ctx.Done():
			return
		}
	}
}
