package main

import (
	"context"
	"fmt"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
)

func pauseCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "pause", ArgsUsage: oneSweep, Action: onSource(c, readPauseOptions),
		Usage: "pause a sweep",
		Flags: append(locationFlags(),
			cli.Switch("stop", "also stop running tasks; they run again after resume")),
		Description: `Running tasks finish. No more tasks start until you resume the sweep.

EXAMPLES:
   run-tasks pause
   # free its slots at once
   run-tasks pause run_training-1 --stop`}
}

// pauseOptions are the options of `run-tasks pause`.
type pauseOptions struct {
	sweep string
	stop  bool
}

func readPauseOptions(ctx *cliv2.Context) (o pauseOptions, err error) {
	if name, _, isTask := strings.Cut(ctx.Args().First(), "/"); isTask {
		return o, cli.Wrong("run-tasks pause "+name+" pauses its sweep", "a single task cannot be "+
			"paused")
	}
	o.stop = ctx.Bool("stop")
	o.sweep, err = argument(ctx)
	return o, err
}

// run pauses a sweep.
func (o pauseOptions) run(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	return src.act(ctx, func(m *api.Client) error {
		after, err := m.Pause(ctx, s.ID, o.stop)
		if err == nil {
			fmt.Fprintln(t.stdout, stateLine(after))
		}
		return err
	})
}
