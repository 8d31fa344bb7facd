package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/api"
)

// submitTo gives a new sweep to a master, and follows it.
func (c *command) submitTo(ctx *cliv2.Context, m *remote, name string) error {
	p, err := c.readProject(ctx.String("d"), name)
	if err != nil {
		return err
	}
	p.noteUnused(where{away: true})
	if len(p.file.Secrets) > 0 {
		p.notes = append(p.notes, "secrets: their values stay here; for now attempts get those of the workers' environment")
	}
	c.print(p.notes)
	return c.away(ctx, m, func(work context.Context, f api.Expected) (none api.Begun, err error) {
		if err := m.ready(work); err != nil {
			return none, err
		}
		files, err := m.take(work, p.dir)
		if err != nil {
			return none, err
		}
		c.noteIgnored(files)
		s := api.Submission{Record: p.record(files.Revision()), Code: codeOf(files, p.task.Parameters)}
		if ctx.Bool("missing") {
			found, err := narrow(work, m, &s.Record, s.Code)
			if err != nil {
				return none, err
			}
			if !found {
				c.nothingMissing(p)
				return none, nil
			}
		}
		return m.Submit(work, s, "", f)
	})
}

// away is a command whose tasks a master runs. Begin makes the sweep that is followed, or none. Ctrl-C before that is
// an end; after it, it leaves the sweep running, or cancels it with --attached.
func (c *command) away(ctx *cliv2.Context, m *remote, begin func(context.Context, api.Expected) (api.Begun, error)) error {
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	l := look{quiet: ctx.Bool("quiet"), json: ctx.Bool("json"), output: !ctx.Bool("no-output")}
	expected := api.TaskEvents
	if l.lines() {
		expected = api.TaskOutputs
	}
	b, err := begin(work, expected)
	id := b.ID
	if err != nil && errors.Is(context.Cause(work), cli.ErrInterrupted) {
		return cli.Code(cli.Interrupted)
	}
	if err != nil || id == "" {
		return err
	}
	if l.quiet {
		fmt.Fprintln(c.stdout, id)
	}
	err = c.watch(work, m, b, l)
	interrupted := errors.Is(context.Cause(work), cli.ErrInterrupted)
	switch {
	case interrupted && !ctx.Bool("attached"):
		c.goesOn(id)
		return nil
	case interrupted:
		if err := c.cancelAttached(ctx.Context, m, id, l); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	return c.conclude(ctx.Context, m, id, l, interrupted)
}

// cancelAttached ends a sweep whose command was interrupted, and waits for its attempts.
func (c *command) cancelAttached(ctx context.Context, m *remote, id string, l look) error {
	if _, err := m.Cancel(ctx, id); err != nil {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusConflict { // it has ended meanwhile
			return err
		}
	}
	fmt.Fprintf(c.stderr, "%s is cancelled; waiting for what runs, with its grace; Ctrl-C again leaves at once\n", id)
	return c.watch(ctx, m, api.Begun{Summary: sweep.Summary{ID: id}}, l)
}
