package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// follow is `run-tasks follow`: a sweep that another process runs.
func (c *command) follow(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	src, s, err := c.reading(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	return c.following(ctx, work, src, api.Begun{Summary: s.Summary}, look{json: ctx.Bool("json"), output: !ctx.Bool("no-output"), late: true})
}

// followed shows a sweep that another process runs to its end. Ctrl-C leaves it running.
func (c *command) followed(ctx *cliv2.Context, src source, b api.Begun, l look) error {
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	return c.following(ctx, work, src, b, l)
}

// following is followed, until work ends.
func (c *command) following(ctx *cliv2.Context, work context.Context, src source, b api.Begun, l look) error {
	if l.quiet {
		fmt.Fprintln(c.stdout, b.ID)
	}
	err := c.watch(work, src, b, l)
	if errors.Is(context.Cause(work), cli.ErrInterrupted) {
		c.goesOn(b.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return c.conclude(ctx.Context, src, b.ID, l, false)
}

// goesOn is what who leaves is told.
func (c *command) goesOn(id string) {
	fmt.Fprintf(c.stderr, "%s goes on; see it again: %s follow %s\n", id, c.self, id)
}

// watch shows a sweep that another process runs, from the first that is heard of it.
func (c *command) watch(ctx context.Context, src source, b api.Begun, l look) error {
	var d display
	note := func(text string) {
		to := c.stderr
		if d == nil {
			fmt.Fprintln(to, "note: "+cli.Visible(text))
			return
		}
		fmt.Fprintln(d.notes(), "note: "+cli.Visible(text))
	}
	err := src.follow(ctx, b, l.lines(), note, func(u master.Update) error {
		if d == nil {
			d = l.open(c.stdout, c.stderr)
			if _, shows := d.(*bar); l.late && !shows && u.Sweep.State == sweep.Open {
				fmt.Fprintf(d.notes(), "following %s: %s\n", u.Sweep.ID, countsText(u.Sweep))
			}
		}
		return d.update(u)
	})
	if d != nil {
		d.close()
	}
	return err
}
