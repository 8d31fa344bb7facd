package main

import (
	"context"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

func retryCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "retry", ArgsUsage: "[SWEEP | [SWEEP/]INDEX...]", Action: retryAction(c),
		Usage: "run failed and cancelled tasks again", Flags: append(runFlags(), flagUpdated(),
			flagWhere("run only tasks that match `EXPR`: 'lr=0.1 and host=gpu2'"),
			cli.Switch("fresh", "start tasks in new folders; the folders of "+
				"earlier attempts are renamed to INDEX.attempt-N")),
		Description: `Without --fresh, a task continues in its folder, which contains the files of
earlier attempts.

EXAMPLES:
   # after a fix in the code
   run-tasks retry --updated
   # in new folders, without the files of earlier attempts
   run-tasks retry --updated --fresh
   # only these tasks
   run-tasks retry run_training-1/7 run_training-1/9
   # those of the failed and cancelled tasks that match
   run-tasks retry --where 'state=failed and lr=0.1'`}
}

// retryAction makes the action of `run-tasks retry`.
func retryAction(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		if err := noOverrides(ctx); err != nil {
			return err
		}
		o := continueOptions{retry: true, how: (*api.Client).Retry}
		var err error
		if o.sweep, o.indexes, err = parseTargets(ctx.Args().Slice()); err != nil {
			return err
		}
		if o.where, err = readWhere(ctx, len(o.indexes) > 0); err != nil {
			return err
		}
		return continueSweep(ctx, c, o)
	}
}

// parseTargets reads one sweep, or tasks of one sweep.
func parseTargets(args []string) (id string, indexes []int64, err error) {
	for i, arg := range args {
		t, err := parseTarget(arg)
		switch {
		case err != nil:
			return "", nil, err
		case i > 0 && (t.sweep != id || !t.isTask || len(indexes) == 0):
			return "", nil, cli.Wrong("name one sweep, or tasks of one sweep",
				"cannot combine %s and %s", args[0], arg)
		}
		if id = t.sweep; t.isTask {
			indexes = append(indexes, t.index)
		}
	}
	return id, indexes, nil
}

// failed refuses tasks that wait or succeeded. Of those that a worker has, the master knows which
// are being cancelled.
func failed(ctx context.Context, src source, s api.Sweep, indexes []int64) error {
	for _, i := range indexes {
		t, err := src.Task(ctx, s.ID, i)
		if err != nil {
			return err
		}
		if state, err := task.ParseState(t.Row.State); err == nil && (state == task.Pending ||
			state == task.Succeeded) {
			return cli.Wrong("only tasks that failed or were cancelled run again", "%s %s",
				t.Row.ID, state.Predicate())
		}
	}
	return nil
}
