package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/query"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// here is the sweeps of this folder: its store, and the process that runs it now.
type here struct {
	*query.Archive
	reader *store.Reader // nil: its owner closes it
	screen *screen
	acted  time.Time    // when something was last asked of the runner
	holder string       // who the runner was then
	last   core.Summary // what the runner told last of the sweep that is followed
}

// note notes when, and of whom, something is asked.
func (h *here) note() { h.acted, h.holder = time.Now(), runnerOf() }

// runnerOf returns what the runner of this folder says of itself; "" where there is none, or that cannot be told.
func runnerOf() string { return worker.Holder(worker.FolderLock(outputFolder)) }

// unfinished reports whether the runner of the sweep that was followed ended before the sweep was finished, cancelled or
// paused.
func (h *here) unfinished() bool { return h.last.State == core.Open || h.last.State == "" }

// openFolder opens the store of this folder for questions.
func (c *command) openFolder(ctx context.Context) (*here, error) {
	if info, err := os.Stat(storeFolder); err == nil && !info.IsDir() {
		return nil, storeError(&fs.PathError{Op: "open", Path: storeFolder, Err: syscall.ENOTDIR})
	}
	reader, err := store.OpenReader(ctx, storeFolder)
	if errors.Is(err, store.ErrNone) {
		return nil, noSweep()
	} else if err != nil {
		return nil, err
	}
	return &here{Archive: &query.Archive{Store: reader, Stands: standing(reader)}, reader: reader,
		screen: c.screen}, nil
}

// alive tells whether a runner of this folder can be asked.
func alive() bool {
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func noSweep() error {
	return cli.Wrong("run-tasks NAME runs one; or go to the folder where it was run", "there is no sweep in this folder")
}

func (h *here) close() error {
	if h.reader == nil {
		return nil
	}
	return h.reader.Close()
}

func (*here) folder(sweep string) string { return filepath.Join(outputFolder, sweep) }

// act asks the process that runs this folder; where there is none, this one runs it for that moment.
func (h *here) act(ctx context.Context, name string, do func(*api.Client) error) (err error) {
	if !alive() {
		r, failed := newRunner(ctx, name, cli.Log(h.screen))
		if failed != nil {
			return failed
		}
		defer func() { err = r.finish(err) }()
	}
	client := h.dial()
	defer client.Close()
	h.note()
	return do(client)
}

// dial returns a client of the runner of this folder.
func (h *here) dial() *api.Client {
	c := named(api.DialAs("the runner of this folder", socketPath))
	c.Waiting = h.screen.note
	return c
}

// polled is how often a file that grows is looked at.
const polled = 200 * time.Millisecond

func (h *here) logs(ctx context.Context, l printed) error {
	folder := taskFolder(l.id)
	stdout := &tail{path: worker.LogFile(folder, "stdout", l.attempt), to: l.stdout, from: l.from}
	stderr := &tail{path: worker.LogFile(folder, "stderr", l.attempt), to: l.stderr, from: l.from}
	defer stdout.close()
	defer stderr.close()
	for {
		over, err := h.over(ctx, l.id) // before reading: what is written later is not the task's
		if err := errors.Join(err, stdout.copy(), stderr.copy()); err != nil {
			return err
		}
		switch {
		case stdout.file == nil && stdout.to != nil && (over || !l.follow):
			return cli.Wrong("", "%s has printed nothing: there is no %s", l.id, stdout.path)
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

func (h *here) measure(ctx context.Context, s api.Sweep, rules []metric.Rule,
	tasks []ended) (all []api.MeasuredTask, err error) {
	for _, t := range tasks {
		id := task.ID{Sweep: s.ID, Index: t.index}
		by := task.Measure{Metrics: rules, Exited: t.exited, Hide: len(s.Record.Recipe.Secrets) > 0}
		read := api.MeasuredTask{Remeasured: core.Remeasured{Index: t.index}}
		read.Measured, err = worker.MeasureTask(ctx, taskFolder(id), by)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			read.Error = "no output is left in " + filepath.Dir(taskFolder(id))
		case err != nil:
			read.Error = err.Error()
		}
		all = append(all, read)
	}
	return all, nil
}

// over tells whether nothing more comes of a task.
func (h *here) over(ctx context.Context, id task.ID) (bool, error) {
	r, err := row(context.WithoutCancel(ctx), h, id)
	if err != nil {
		return false, err
	}
	state, err := task.ParseState(r.State)
	return state.Terminal() || !alive(), err
}
