package main

import (
	"context"
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// follow is `run-tasks follow`: a sweep that another process runs.
func (c *command) follow(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	c.waitsForMaster = true
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	l := displayOptions(ctx)
	l.Late = true
	if l.Quiet {
		fmt.Fprintln(c.stdout, s.ID)
	}
	return c.followSweep(ctx.Context, src, s, l)
}

// followSweep shows a sweep that another process runs, until it ends or an interrupt.
func (c *command) followSweep(ctx context.Context, src source, s api.Sweep,
	l display.Options) error {
	work, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	err := c.watch(work, src, api.StartedSweep{Summary: s.Summary}, l)
	if isInterrupted(work) {
		c.noteDetached(s.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return c.summarize(ctx, src, s.ID, l, false)
}

// watch shows a sweep from the first that is heard of it.
func (c *command) watch(ctx context.Context, src source, b api.StartedSweep,
	l display.Options) error {
	if m, is := src.(*remote); is && m.cluster != nil {
		defer m.bringFiles(ctx, b.ID)()
	}
	var d display.Display
	told := false
	err := src.follow(ctx, b, l.Detail(), func(u api.Update) error {
		if d == nil {
			d = l.Open(c.stdout, c.stderr)
			c.messages.Redirect(d.Notes())
			if _, shows := d.(*display.Bar); l.Late && !shows && u.Sweep.State == core.Open {
				fmt.Fprintf(d.Notes(), "following %s: %s\n", u.Sweep.ID,
					display.CountsText(u.Sweep))
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
