package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// logs is `run-tasks logs`: what a task printed, each stream to its own, or what all tasks of a
// sweep printed.
func (c *command) logs(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	at, err := parseTarget(arg)
	if err != nil {
		return err
	}
	if ctx.Int("attempt") < 0 {
		return cli.Wrong("", "--attempt must not be negative")
	}
	c.waitsForMaster = ctx.Bool("follow")
	src, s, err := c.openSweep(ctx, at.sweep, false)
	if err != nil {
		return err
	}
	defer src.close()
	if !at.isTask && s.Total > 1 {
		switch {
		case ctx.IsSet("attempt"):
			return cli.Wrong(fmt.Sprintf("%s logs --attempt %d %s/0, for example", c.self,
				ctx.Int("attempt"), s.ID), "--attempt is of one task, and %s has %s", s.ID,
				plural(s.Total, "task"))
		}
		return untilInterrupted(ctx.Context, func(work context.Context) error {
			return (&sweepLogs{c: c, src: src, sweep: s}).print(work, ctx.Bool("follow"))
		})
	}
	if !at.isTask {
		at.index = s.Record.Ranges.At(0)
	}
	t, err := src.Task(ctx.Context, s.ID, at.index)
	if err != nil {
		return err
	}
	if err := hasAttempt(t, ctx.Int("attempt")); err != nil {
		return err
	}
	return untilInterrupted(ctx.Context, func(work context.Context) error {
		stdout, stderr := display.Visibly(c.stdout), display.Visibly(c.stderr)
		err := logsOf(work, src, t.Row.Host, outputQuery{id: task.ID{Sweep: s.ID, Index: at.index},
			attempt: ctx.Int("attempt"), follow: ctx.Bool("follow"), stdout: stdout,
			stderr: stderr})
		for _, w := range []display.Output{stdout, stderr} {
			if flushed := w.Flush(); err == nil {
				err = flushed
			}
		}
		return err
	})
}

// logsOf prints the output of a task that ran on a host.
func logsOf(ctx context.Context, src source, host string, q outputQuery) error {
	err := src.logs(ctx, q)
	if m, ok := src.(*remote); ok {
		err = m.hostLogs(ctx, host, q, err)
	}
	return err
}

// isSilent reports whether output cannot be read because the task has printed nothing.
func isSilent(err error) bool {
	if _, none := errors.AsType[*silent](err); none {
		return true
	}
	e, refused := errors.AsType[*api.Error](err)
	return refused && e.Status == http.StatusNotFound
}

// untilInterrupted runs a command that may be blocked on a pipe that nobody reads: a signal ends it
// within a second.
func untilInterrupted(ctx context.Context, run func(context.Context) error) error {
	work, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(work) }()
	select {
	case err := <-ended:
		return err
	case <-work.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Second):
		return cli.Code(cli.Interrupted)
	}
}
