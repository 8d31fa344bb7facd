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
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func logsCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "logs", ArgsUsage: sweepOrTask, Action: onSource(c, readLogsOptions),
		Usage: "print the output of a task, or of all tasks of a sweep",
		Flags: append(locationFlags(),
			&cliv2.IntFlag{Name: "attempt", DefaultText: "the newest",
				Usage: "show the output of attempt `N`"},
			cli.Switch("follow", "keep printing until the task or sweep ends", "f")),
		Description: `The standard error of tasks is printed to standard error. For a sweep, each
line begins with its task. If the output is not a terminal, only the final state
of each progress bar is printed.

EXAMPLES:
   run-tasks logs run_training-1/7
   # keep printing while the task runs
   run-tasks logs -f run_training-1/7
   run-tasks logs run_training-1 | grep loss`}
}

// logsOptions are the options of `run-tasks logs`.
type logsOptions struct {
	target
	attempt int  // 0: the newest
	given   bool // --attempt is given
	follow  bool
}

func readLogsOptions(ctx *cliv2.Context) (o logsOptions, err error) {
	o.attempt, o.given, o.follow = ctx.Int("attempt"), ctx.IsSet("attempt"), ctx.Bool("follow")
	if o.target, err = readTarget(ctx); err == nil && o.attempt < 0 {
		err = cli.Wrong("", "--attempt must not be negative")
	}
	return o, err
}

// run prints what a task printed, each stream to its own, or what all tasks of a sweep printed.
func (o logsOptions) run(ctx context.Context, src source, t *terminal) error {
	if o.follow {
		waitForMaster(src)
	}
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	switch {
	case !o.isTask && s.Total > 1 && o.given:
		return cli.Wrong(fmt.Sprintf("%s logs --attempt %d %s/0, for example", t.self, o.attempt,
			s.ID), "--attempt is of one task, and %s has %s", s.ID, human.Plural(s.Total, "task"))
	case !o.isTask && s.Total > 1:
		return untilInterrupted(ctx, func(work context.Context) error {
			return (&sweepLogs{terminal: t, src: src, sweep: s}).print(work, o.follow)
		})
	case !o.isTask:
		o.index = s.Record.Ranges.At(0)
	}
	of, err := src.Task(ctx, s.ID, o.index)
	if err != nil {
		return err
	}
	if err := hasAttempt(of, o.attempt); err != nil {
		return err
	}
	return untilInterrupted(ctx, func(work context.Context) error {
		stdout, stderr := display.Visibly(t.stdout), display.Visibly(t.stderr)
		err := logsOf(work, src, of.Row.Host, outputQuery{id: task.ID{Sweep: s.ID, Index: o.index},
			attempt: o.attempt, follow: o.follow, stdout: stdout, stderr: stderr})
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

// untilInterrupted runs a command that may be blocked because its output is not read: a signal ends
// it within a second.
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
