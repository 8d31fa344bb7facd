package main

import (
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
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
	t, err := parseTarget(arg)
	if err != nil {
		return err
	}
	src, s, err := c.reading(ctx, t.sweep, false)
	if err != nil {
		return err
	}
	defer src.close()
	if !t.isTask && s.Total > 1 {
		return cli.Wrong(fmt.Sprintf("%s logs %s/0, for example", c.self, s.ID), "%s has %s: which one?", s.ID, plural(s.Total, "task"))
	}
	if !t.isTask {
		t.index = s.Record.Ranges.At(0)
	}
	if _, err := src.Task(ctx.Context, s.ID, t.index); err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	return src.logs(work, printed{id: task.ID{Sweep: s.ID, Index: t.index}, attempt: ctx.Int("attempt"), follow: ctx.Bool("follow"),
		stdout: visibly(c.stdout), stderr: visibly(c.stderr)})
}
