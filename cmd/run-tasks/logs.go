package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/task"
)

// polled is how often a file that grows is looked at.
const polled = 200 * time.Millisecond

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
	reader, s, err := reading(ctx.Context, t.sweep)
	if err != nil {
		return err
	}
	defer reader.Close()
	if !t.isTask && s.Head.Total > 1 {
		return cli.Wrong(fmt.Sprintf("run-tasks logs %s/0, for example", s.Head.ID), "%s has %s: which one?", s.Head.ID, plural(s.Head.Total, "task"))
	}
	if !t.isTask {
		t.index = s.Record.Ranges.At(0)
	}
	if _, err := readTask(ctx.Context, reader, s, t.index); err != nil {
		return err
	}
	ended := func(ctx context.Context) (bool, error) {
		row, err := readTask(ctx, reader, s, t.index)
		return row.State.Terminal() || !alive(), err
	}
	return c.printLogs(ctx, task.ID{Sweep: s.Head.ID, Index: t.index}, ended)
}

func (c *command) printLogs(ctx *cliv2.Context, id task.ID, ended func(context.Context) (bool, error)) error {
	suffix := suffixOf(taskFolder(id), ctx.Int("attempt"))
	stdout := &tail{path: filepath.Join(taskFolder(id), "stdout"+suffix), to: visibly(c.stdout)}
	stderr := &tail{path: filepath.Join(taskFolder(id), "stderr"+suffix), to: visibly(c.stderr)}
	defer stdout.close()
	defer stderr.close()
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	for {
		over, err := ended(ctx.Context) // before reading: what is written later is not the task's
		if err := errors.Join(err, stdout.copy(), stderr.copy()); err != nil {
			return err
		}
		switch {
		case stdout.file == nil && (over || !ctx.Bool("follow")):
			return cli.Wrong("", "%s has printed nothing: there is no %s", id, stdout.path)
		case over || !ctx.Bool("follow"):
			return nil
		}
		select {
		case <-time.After(polled):
		case <-work.Done():
			return nil
		}
	}
}

// suffixOf is how the names of an attempt's files end. The newest attempt has those without a number.
func suffixOf(folder string, attempt int) string {
	numbered := func(n int) string { return fmt.Sprintf(".%d.log", n) }
	have := func(suffix string) bool {
		_, err := os.Lstat(filepath.Join(folder, "stdout"+suffix))
		return err == nil
	}
	newest := attempt == 1 || attempt > 1 && have(numbered(attempt-1))
	if attempt == 0 || newest && !have(numbered(attempt)) {
		return ".log"
	}
	return numbered(attempt)
}
