package main

import (
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/task"
)

// logs is `run-tasks logs`: what a task printed, each stream to its own.
func (c *command) logs(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	if ctx.Int("attempt") < 0 {
		return cli.Wrong("", "--attempt must not be negative")
	}
	c.waitsForMaster = ctx.Bool("follow")
	src, _, t, err := c.openTask(ctx, arg, "logs")
	if err != nil {
		return err
	}
	defer src.close()
	if err := hasAttempt(t, ctx.Int("attempt")); err != nil {
		return err
	}
	id, err := task.ParseID(t.Row.ID)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	ended := make(chan error, 1)
	go func() {
		l := outputQuery{id: id, attempt: ctx.Int("attempt"), follow: ctx.Bool("follow"),
			stdout: display.Visibly(c.stdout), stderr: display.Visibly(c.stderr)}
		err := src.logs(work, l)
		if m, ok := src.(*remote); ok {
			err = m.hostLogs(work, t.Row.Host, l, err)
		}
		ended <- err
	}()
	select {
	case err = <-ended:
		return err
	case <-work.Done():
	}
	select { // it may be blocked on a pipe that nobody reads
	case err = <-ended:
		return err
	case <-time.After(time.Second):
		return cli.Code(cli.Interrupted)
	}
}
