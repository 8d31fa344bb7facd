package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// polled is how often a file that grows is looked at.
const polled = 200 * time.Millisecond

func (h *localFolder) logs(ctx context.Context, l outputQuery) error {
	folder := local.TaskFolder(l.id)
	stdout := &tail{path: worker.LogFile(folder, "stdout", l.attempt), to: l.stdout}
	stderr := &tail{path: worker.LogFile(folder, "stderr", l.attempt), to: l.stderr}
	defer stdout.close()
	defer stderr.close()
	for {
		// before reading: what is written later is not the task's
		over, err := h.hasEnded(ctx, l.id)
		if err := errors.Join(err, stdout.copy(ctx), stderr.copy(ctx)); err != nil {
			return err
		}
		switch {
		case stdout.file == nil && stdout.to != nil && (over || !l.follow):
			return h.noOutput(ctx, l.id, stdout.path)
		case over || !l.follow:
			return nil
		}
		select {
		case <-time.After(polled):
		case <-ctx.Done():
			return nil
		}
	}
}

// noOutput returns an error that says why a task has no output at a path.
func (h *localFolder) noOutput(ctx context.Context, id task.ID, path string) error {
	t, err := h.Task(context.WithoutCancel(ctx), id.Sweep, id.Index)
	folder := local.TaskFolder(id)
	switch {
	case err != nil:
		return err
	case began(t) && !exists(folder):
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("the folder of %s no longer exists: %s",
			id, folder)}
	case began(t) && t.Row.Reason != "" && t.Row.State == task.Succeeded.String():
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("%s: %s (there is no %s)", id,
			cli.Visible(t.Row.Reason), path)}
	}
	return &cli.Error{Code: cli.Usage, Err: &silent{id, path}}
}

// began reports whether an attempt of a task has started. If so, the task had a folder.
func began(t api.Task) bool {
	return slices.ContainsFunc(t.Attempts, func(a api.Attempt) bool { return a.Started != nil })
}

// silent is that a task has printed nothing.
type silent struct {
	id   task.ID
	path string // of the file that does not exist
}

func (s *silent) Error() string {
	return fmt.Sprintf("%s has printed nothing: there is no %s", s.id, s.path)
}

// tail copies a file that may not be there yet, may grow, and may be replaced by that of another
// attempt.
type tail struct {
	path string
	file *os.File
	to   io.Writer // nil: nothing is copied
}

// copyChunk is how many bytes are copied between checks of the context.
const copyChunk = 4 << 20

// copy writes what was appended since the last call, until ctx ends.
func (t *tail) copy(ctx context.Context) error {
	for t.to != nil {
		if t.file != nil {
			replaced := t.replaced() // before reading: what stands there now is all of the old file
			n, err := io.CopyN(t.to, t.file, copyChunk)
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil && n == copyChunk:
				continue
			case err != io.EOF || !replaced:
				return ignoreEOF(err)
			}
			t.close()
		}
		// opening a pipe that a task put there would block until it has a writer
		f, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return errors.Join(err, f.Close(), &cli.Error{Code: cli.Failed,
				Err: fmt.Errorf("%s is not a regular file: the task replaced it", t.path)})
		}
		t.file = f
	}
	return nil
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// replaced reports whether another file has the name now.
func (t *tail) replaced() bool {
	now, err := os.Stat(t.path)
	if err != nil {
		return false
	}
	old, err := t.file.Stat()
	return err == nil && !os.SameFile(old, now)
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}
