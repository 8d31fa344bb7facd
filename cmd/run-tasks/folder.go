package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/local"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// localFolder answers for the sweeps of this folder: its store, and the process that runs them now.
type localFolder struct {
	*listing.Archive
	reader   *store.Reader // nil: its owner closes it
	api      *api.Client   // of the runner
	messages *display.Messages
	runner   *local.Runner // nil: this process is not the one
	acted    time.Time     // when something was last asked of the runner
	holder   string        // who the runner was then
	last     core.Summary  // what the runner told last of the sweep that is followed
}

// note notes when, and of whom, something is asked.
func (h *localFolder) note() { h.acted, h.holder = time.Now(), local.Holder() }

// unfinished reports whether the runner of the sweep that was followed ended before the sweep was
// finished, cancelled or paused.
func (h *localFolder) unfinished() bool { return h.last.State == core.Open || h.last.State == "" }

// openFolder opens the store of this folder for questions.
func (c *command) openFolder(ctx context.Context) (*localFolder, error) {
	reader, err := local.OpenReader(ctx)
	if errors.Is(err, store.ErrNone) {
		return nil, noSweep()
	} else if err != nil {
		return nil, err
	}
	h := c.newFolder(&listing.Archive{Store: reader, Stands: local.CorrectKilled(reader)})
	h.reader, h.api.Waiting = reader, c.messages.Note
	return h, nil
}

// newFolder returns the folder whose store an archive reads.
func (c *command) newFolder(a *listing.Archive) *localFolder {
	return &localFolder{Archive: a, api: named(local.Dial()), messages: c.messages}
}

func (h *localFolder) close() error {
	h.api.Close()
	if h.reader == nil {
		return nil
	}
	return h.reader.Close()
}

func (*localFolder) folder(sweep string) string { return filepath.Join(local.OutputFolder, sweep) }

// act asks the process that runs this folder; where there is none, this one runs it for that
// moment. One that begins or ends is waited for.
func (h *localFolder) act(ctx context.Context, name string, do func(*api.Client) error) error {
	for {
		r, err := startRunner(ctx, name, h.messages, storeTime, nil)
		if err != nil {
			return err
		}
		h.note()
		err = do(h.api)
		if r != nil {
			return r.Close(err)
		}
		if !notAsked(err) {
			return err
		}
	}
}

func (h *localFolder) client() *api.Client { return h.api }

func (*localFolder) accepts(context.Context, string, *definition.File) error { return nil }

// take keeps the files of a project as they are now.
func (*localFolder) take(ctx context.Context, dir string) (*projects.Manifest, error) {
	m, err := local.Snapshot(ctx, dir)
	return m, projectError(err)
}

// complete has outputs of earlier sweeps stay those of their own.
func (*localFolder) complete(s *api.Submission) error {
	s.MinNumber = local.NextNumber(s.Record.Recipe.Definition)
	return nil
}

func (h *localFolder) measure(ctx context.Context, s api.Sweep, rules []metric.Rule,
	tasks []endedTask) (all []api.MeasuredTask, err error) {
	of, err := h.Stored(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		m, err := h.Measure(ctx, of, t.index, task.Measure{Metrics: rules}, measureFolder)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			m.Error = err.Error()
		}
		all = append(all, m)
	}
	return all, nil
}

// measureFolder reads the metrics of a task in its folder.
func measureFolder(ctx context.Context, id task.ID, by task.Measure) (task.Measured, error) {
	m, err := worker.MeasureTask(ctx, local.TaskFolder(id), by, local.RevisionFolder)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no output is left in " + filepath.Dir(local.TaskFolder(id)))
	}
	return m, err
}

// hasEnded reports whether nothing more comes of a task.
func (h *localFolder) hasEnded(ctx context.Context, id task.ID) (bool, error) {
	r, err := row(context.WithoutCancel(ctx), h, id)
	if err != nil {
		return false, err
	}
	state, err := task.ParseState(r.State)
	return state.Terminal() || !local.Alive(), err
}
