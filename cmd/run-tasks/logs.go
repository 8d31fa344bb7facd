package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	cliv2 "github.com/urfave/cli/v2"
	"golang.org/x/term"

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
	suffix := ".log"
	if n := ctx.Int("attempt"); n > 0 {
		suffix = fmt.Sprintf(".%d.log", n)
	}
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
			return cli.Wrong("", "there is no output of %s: %s does not exist", id, stdout.path)
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

// tail copies a file that may not be there yet, and may grow.
type tail struct {
	path string
	file *os.File
	to   io.Writer
}

func (t *tail) copy() error {
	if t.file == nil {
		f, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		t.file = f
	}
	_, err := io.Copy(t.to, t.file)
	return err
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// visibly is where output goes: made visible on a terminal, as it is everywhere else.
func visibly(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return terminal{f}
}

type terminal struct{ f *os.File }

func (t terminal) Write(p []byte) (int, error) {
	_, err := io.WriteString(t.f, cli.VisibleOutput(string(p)))
	return len(p), err
}
