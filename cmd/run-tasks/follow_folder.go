package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// follow ends at once when no process runs the sweep, and with its runner: the store says how far
// it came. One that is only stopped, as by Ctrl-Z, is waited for.
func (h *localFolder) follow(ctx context.Context, b api.StartedSweep, d api.Detail,
	each func(api.Update) error) error {
	if h.runner != nil {
		return h.followOwn(ctx, b, d, each)
	}
	since, told, idle := time.Now(), map[int64]bool{}, false
	h.last = core.Summary{}
	if b.Events != "" {
		since = h.acted
	} else if h.note(); !local.Alive() {
		return nil
	}
	away := func(why error) (end bool) {
		switch {
		case why == nil:
			h.messages.Note("the runner of this folder is back")
		case !errors.Is(why, api.ErrSilent):
			return true
		default:
			h.messages.Note(fmt.Sprintf("the runner of this folder is away (%v); this goes on "+
				"when it does", why))
		}
		return false
	}
	var failed error // of who is told
	err := h.api.Follow(ctx, b.ID,
		api.FollowOptions{Detail: d, After: b.Events, OnDisconnect: away},
		func(u api.Update) error {
			for _, r := range u.Rows {
				told[r.Index] = hasEnded(r)
			}
			h.last, idle = u.Sweep, u.Idle()
			failed = each(u)
			return failed
		})
	if !idle && failed == nil && ctx.Err() == nil && gone(h.holder) {
		if !d.Tasks() { // how they ended is not shown
			return nil
		}
		return h.rest(ctx, b.ID, since, told, each)
	}
	return err
}

// followOwn follows a sweep of the runner that this process is, for as long as that lives, however
// slowly what it is shown in is read.
func (h *localFolder) followOwn(ctx context.Context, b api.StartedSweep, d api.Detail,
	each func(api.Update) error) error {
	away := func(error) (end bool) { return h.runner.Context().Err() != nil }
	return h.api.Follow(ctx, b.ID, api.FollowOptions{Detail: d, After: b.Events,
		OnDisconnect: away},
		func(u api.Update) error {
			if err := each(u); err != nil || !u.Closed {
				return err
			}
			return errors.New("the master has stopped")
		})
}

// gone waits for the end of a runner that has cut the connection; a process that dies is reachable
// for a moment. Another one may have followed it.
func gone(holder string) bool {
	end := time.Now().Add(10 * time.Second)
	for ; local.Alive() && local.Holder() == holder; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// rest tells how tasks ended since a time, where their runner, which is gone, had not told it.
func (h *localFolder) rest(ctx context.Context, id string, since time.Time, told map[int64]bool,
	each func(api.Update) error) error {
	s, err := h.Sweep(ctx, id, false)
	if err != nil {
		return err
	}
	u := api.Update{Sweep: s.Summary}
	err = h.Rows(ctx, id, api.Query{Issued: true}, func(r *table.Row) error {
		if hasEnded(*r) && !told[r.Index] && r.Started != nil && r.Duration != nil &&
			r.Started.Add(time.Duration(*r.Duration*float64(time.Second))).After(since) {
			u.Rows = append(u.Rows, *r)
		}
		return nil
	})
	if err != nil || len(u.Rows) == 0 {
		return err
	}
	return each(u)
}

// hasEnded reports whether a task has ended.
func hasEnded(r table.Row) bool {
	state, err := task.ParseState(r.State)
	return err == nil && state.Terminal()
}

// A sweep whose runner ended is polled until another terminal has become its runner, or until the
// timeout.
const (
	takeoverPoll    = 50 * time.Millisecond
	takeoverTimeout = 3 * time.Second
)

// awaitTakeover waits for another terminal to run the sweep that was open when its runner ended. It
// reports whether one does.
func (h *localFolder) awaitTakeover(ctx context.Context, id string) bool {
	if h.last.State != core.Open {
		return false
	}
	for end := time.Now().Add(takeoverTimeout); time.Now().Before(end) && ctx.Err() == nil; {
		s, err := h.Sweep(ctx, id, false)
		if err != nil || s.State != core.Open && s.State != core.Paused {
			return false
		}
		if s.State == core.Open && local.Alive() && local.Holder() != h.holder {
			return true
		}
		select {
		case <-time.After(takeoverPoll):
		case <-ctx.Done():
		}
	}
	return false
}
