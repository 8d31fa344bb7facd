package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// follow is `run-tasks follow`: a sweep that another process runs.
func (c *command) follow(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	c.waitsForMaster = true
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	l := displayOptions(ctx)
	l.Late = true
	return c.following(ctx, work, src, api.StartedSweep{Summary: s.Summary}, l)
}

// following shows a sweep that another process runs to its end. It leaves the sweep running when work ends.
func (c *command) following(ctx *cliv2.Context, work context.Context, src source,
	b api.StartedSweep, l display.Options) error {
	if m, ok := src.(*remote); ok {
		m.waitForMaster()
	}
	if l.Quiet {
		fmt.Fprintln(c.stdout, b.ID)
	}
	err := c.watch(work, src, b, l)
	for h, ok := src.(*localFolder); ok && err == nil && h.awaitTakeover(work, b.ID); {
		c.messages.Note("the process that ran " + b.ID + " has ended: it goes on in another terminal")
		err = c.watch(work, src, api.StartedSweep{Summary: b.Summary}, l)
	}
	if errors.Is(context.Cause(work), cli.ErrInterrupted) {
		c.noteDetached(b.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return c.summarize(ctx.Context, src, b.ID, l, false)
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
		if s.State == core.Open && alive() && runnerOf() != h.holder {
			return true
		}
		select {
		case <-time.After(takeoverPoll):
		case <-ctx.Done():
		}
	}
	return false
}

// watch shows a sweep that another process runs, from the first that is heard of it.
func (c *command) watch(ctx context.Context, src source, b api.StartedSweep, l display.Options) error {
	var d display.Display
	told := false
	err := src.follow(ctx, b, l.Detail(), func(u api.Update) error {
		if d == nil {
			d = l.Open(c.stdout, c.stderr)
			c.messages.Redirect(d.Notes())
			if _, shows := d.(*display.Bar); l.Late && !shows && u.Sweep.State == core.Open {
				fmt.Fprintf(d.Notes(), "following %s: %s\n", u.Sweep.ID, display.CountsText(u.Sweep))
			}
		}
		c.warnFirst(d, u, &told)
		return d.Update(u)
	})
	if d != nil {
		d.Close()
		c.messages.Redirect(nil)
	}
	return err
}

// follow ends at once when no process runs the sweep, and with its runner: the store says how far it came. One that is only
// stopped, as by Ctrl-Z, is waited for.
func (h *localFolder) follow(ctx context.Context, b api.StartedSweep, d api.Detail,
	each func(api.Update) error) error {
	since, told, idle := time.Now(), map[int64]bool{}, false
	h.last = core.Summary{}
	if b.Events != "" {
		since = h.acted
	} else if h.note(); !alive() {
		return nil
	}
	client := h.dial()
	defer client.Close()
	away := func(why error) (end bool) {
		switch {
		case why == nil:
			h.messages.Note("the runner of this folder is back")
		case !errors.Is(why, api.ErrSilent):
			return true
		default:
			h.messages.Note(fmt.Sprintf("the runner of this folder is away (%v); this goes on when it does", why))
		}
		return false
	}
	var failed error // of who is told
	err := client.Follow(ctx, b.ID, api.Following{Detail: d, After: b.Events, Away: away},
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

// gone waits for the end of a runner that has cut the connection; a process that dies is reachable for a moment. Another one may
// have followed it.
func gone(holder string) bool {
	for end := time.Now().Add(10 * time.Second); alive() && runnerOf() == holder; time.Sleep(20 * time.Millisecond) {
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
	err = h.Rows(ctx, id, api.Query{Begun: true}, func(r *table.Row) error {
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

// hasEnded tells whether a task has ended.
func hasEnded(r table.Row) bool {
	state, err := task.ParseState(r.State)
	return err == nil && state.Terminal()
}
