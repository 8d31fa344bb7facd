package main

import (
	"context"
	"fmt"
	"strconv"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
)

func priorityCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "priority", ArgsUsage: "[SWEEP] N",
		Action: onSource(c, readPriorityOptions),
		Usage:  "set the priority of a sweep", Flags: locationFlags(),
		Description: `Sweeps with a higher priority run first. Sweeps with the same priority take
turns using the slots. On this machine, they run one after the other. The
default is 0. N may be negative. Running tasks are not interrupted.

EXAMPLES:
   # run it before all others
   run-tasks priority run_training-1 10`}
}

// priorityOptions are the options of `run-tasks priority`.
type priorityOptions struct {
	sweep    string
	priority int
}

func readPriorityOptions(ctx *cliv2.Context) (o priorityOptions, err error) {
	args := ctx.Args().Slice()
	switch len(args) {
	case 0:
		return o, cli.Wrong("run-tasks priority [SWEEP] N", "missing argument: N")
	case 1:
	case 2:
		o.sweep = args[0]
	default:
		return o, stray(args[2])
	}
	last := args[len(args)-1]
	if o.priority, err = strconv.Atoi(last); err != nil {
		return o, cli.Wrong("run-tasks priority [SWEEP] N",
			"invalid priority %q: not a whole number", last)
	}
	return o, fitsPriority(o.priority)
}

// run sets the priority of a sweep.
func (o priorityOptions) run(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	return src.act(ctx, func(m *api.Client) error {
		after, err := m.Prioritize(ctx, s.ID, o.priority)
		if err == nil {
			fmt.Fprintf(t.stdout, "%s has priority %d\n", after.ID, after.Priority)
		}
		return err
	})
}
