package main

import (
	"context"
	"io"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// queries are what is asked of sweeps. A store answers them (listing.Archive) and a master does
// (api.Client).
type queries interface {
	Sweeps(ctx context.Context, after string, limit int) ([]core.Summary, error)
	Sweep(ctx context.Context, id string, checks bool) (api.Sweep, error)
	Tasks(ctx context.Context, id string, q api.Query) (api.Page, error)
	Task(ctx context.Context, id string, index int64) (api.Task, error)
	Rows(ctx context.Context, id string, q api.Query, each func(*table.Row) error) error
	Results(ctx context.Context, id string, q api.Query, f api.Format, w io.Writer) error
	Groups(ctx context.Context, id string, q api.GroupQuery) (api.GroupPage, error)
	Failures(ctx context.Context, id string) (api.Failures, error)
	Effects(ctx context.Context, id string, q api.PlotQuery) (api.Effects, error)
	Size(ctx context.Context, id string, tasks core.Ranges) (int64, error)
	Missing(ctx context.Context, r core.Record, code string, same ...string) (api.Missing, error)
}

// source is where sweeps are kept and run: this folder, or a master.
type source interface {
	queries
	// act lets do change something, through the process that runs the sweeps.
	act(ctx context.Context, do func(*api.Client) error) error
	// follow calls each with what happens to a sweep until it is idle, or the process that ran it
	// is gone: from now on, or since it began when that is known.
	follow(ctx context.Context, b api.StartedSweep, d api.Detail, each func(api.Update) error) error
	// logs copies what an attempt printed.
	logs(ctx context.Context, l outputQuery) error
	// measure reads the metrics of tasks again, by other rules, from what their attempts left.
	measure(ctx context.Context, s api.Sweep, rules []metric.Rule,
		tasks []endedTask) ([]api.MeasuredTask, error)
	// folder is where the files of a sweep lie on this machine; "" when they do not.
	folder(sweep string) string
	// unusedRevisions lists the copies of the project's code that only the named sweeps need, or
	// none, and that dropRevisions removes when these are gone.
	unusedRevisions(ctx context.Context, without []string) ([]string, error)
	// dropRevisions removes the copies of the project's code that no sweep needs, and returns how
	// many.
	dropRevisions(ctx context.Context) (int, error)
	close() error
}

// outputQuery is what of a task's output is wanted, and where it goes.
type outputQuery struct {
	id             task.ID
	attempt        int // 0: the newest
	follow         bool
	stdout, stderr io.Writer // nil: that stream is not wanted
}

// open finds the sweeps that a command is about.
func (c *command) open(ctx *cliv2.Context) (source, error) {
	if locationOf(ctx) == project.Here {
		c.nameFolder(ctx.Bool("local"))
		return c.openFolder(ctx.Context)
	}
	return c.dial(ctx)
}
