package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
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
		case ctx.Bool("follow"):
			return c.followSweep(ctx.Context, src, s, display.Options{Output: true, Late: true,
				OneMachine: locationOf(ctx) == inFolder})
		}
		return untilInterrupted(ctx.Context, func(work context.Context) error {
			return c.allLogs(work, src, s.ID)
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
		return logsOf(work, src, t.Row.Host, outputQuery{id: task.ID{Sweep: s.ID, Index: at.index},
			attempt: ctx.Int("attempt"), follow: ctx.Bool("follow"),
			stdout: display.Visibly(c.stdout), stderr: display.Visibly(c.stderr)})
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

// allLogs prints the output of every task of a sweep, in the order of the tasks: each line with its
// task. Output that cannot be read is noted, and the exit code is 1.
func (c *command) allLogs(ctx context.Context, src source, sweep string) error {
	var rows []table.Row // those with an attempt
	err := src.Rows(ctx, sweep, api.Query{Issued: true}, func(r *table.Row) error {
		if r.Started != nil {
			rows = append(rows, table.Row{ID: r.ID, Index: r.Index, Host: r.Host})
		}
		return nil
	})
	if err != nil {
		return err
	}
	stdout, stderr := display.Visibly(c.stdout), display.Visibly(c.stderr)
	for _, r := range rows {
		out, errs := &prefixed{to: stdout, prefix: r.ID + " | "},
			&prefixed{to: stderr, prefix: r.ID + " | "}
		failed := logsOf(ctx, src, r.Host, outputQuery{id: task.ID{Sweep: sweep, Index: r.Index},
			stdout: out, stderr: errs})
		out.flush()
		errs.flush()
		switch {
		case ctx.Err() != nil:
			return nil
		case failed != nil && !isSilent(failed):
			fmt.Fprintf(c.stderr, "note: %s: %s\n", r.ID, cli.Visible(failed.Error()))
			err = cli.Code(cli.Failed)
		}
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

// prefixed writes whole lines, each after a prefix.
type prefixed struct {
	to     io.Writer
	prefix string
	line   []byte
}

// maxLine bounds a line in memory; the rest of a longer one is another line.
const maxLine = 64 << 10

func (p *prefixed) Write(text []byte) (int, error) {
	for _, b := range text {
		if b != '\n' {
			p.line = append(p.line, b)
		}
		if b == '\n' || len(p.line) == maxLine {
			if err := p.write(); err != nil {
				return 0, err
			}
		}
	}
	return len(text), nil
}

// flush writes the last line, if it has no end.
func (p *prefixed) flush() {
	if len(p.line) > 0 {
		_ = p.write() // the next write fails, too
	}
}

func (p *prefixed) write() error {
	_, err := fmt.Fprintf(p.to, "%s%s\n", p.prefix, p.line)
	p.line = p.line[:0]
	return err
}
