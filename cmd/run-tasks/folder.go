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
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/query"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// localFolder answers for the sweeps of this folder: its store, and the process that runs them now.
type localFolder struct {
	*query.Archive
	reader   *store.Reader // nil: its owner closes it
	messages *display.Messages
	acted    time.Time    // when something was last asked of the runner
	holder   string       // who the runner was then
	last     core.Summary // what the runner told last of the sweep that is followed
}

// note notes when, and of whom, something is asked.
func (h *localFolder) note() { h.acted, h.holder = time.Now(), runnerOf() }

// runnerOf returns what the runner of this folder says of itself; "" where there is none, or that cannot be told.
func runnerOf() string { return worker.Holder(worker.FolderLock(outputFolder)) }

// unfinished reports whether the runner of the sweep that was followed ended before the sweep was finished, cancelled or
// paused.
func (h *localFolder) unfinished() bool { return h.last.State == core.Open || h.last.State == "" }

// openFolder opens the store of this folder for questions.
func (c *command) openFolder(ctx context.Context) (*localFolder, error) {
	if info, err := os.Stat(storeFolder); err == nil && !info.IsDir() {
		return nil, storeError(&fs.PathError{Op: "open", Path: storeFolder, Err: syscall.ENOTDIR})
	}
	reader, err := store.OpenReader(ctx, storeFolder)
	if errors.Is(err, store.ErrNone) {
		return nil, noSweep()
	} else if err != nil {
		return nil, err
	}
	return &localFolder{Archive: &query.Archive{Store: reader, Stands: correctKilled(reader)}, reader: reader,
		messages: c.messages}, nil
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

func (h *localFolder) close() error {
	if h.reader == nil {
		return nil
	}
	return h.reader.Close()
}

func (*localFolder) folder(sweep string) string { return filepath.Join(outputFolder, sweep) }

// act asks the process that runs this folder; where there is none, this one runs it for that moment.
func (h *localFolder) act(ctx context.Context, name string, do func(*api.Client) error) (err error) {
	if !alive() {
		r, failed := newRunner(ctx, name, cli.Log(h.messages))
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
func (h *localFolder) dial() *api.Client {
	c := named(api.DialAs("the runner of this folder", socketPath))
	c.Waiting = h.messages.Note
	return c
}

func (h *localFolder) measure(ctx context.Context, s api.Sweep, rules []metric.Rule,
	tasks []endedTask) (all []api.MeasuredTask, err error) {
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

// hasEnded tells whether nothing more comes of a task.
func (h *localFolder) hasEnded(ctx context.Context, id task.ID) (bool, error) {
	r, err := row(context.WithoutCancel(ctx), h, id)
	if err != nil {
		return false, err
	}
	state, err := task.ParseState(r.State)
	return state.Terminal() || !alive(), err
}
