package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"

	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/projects"
	"mlframework/sweep/api"
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
	reader   *store.Reader
	command  *command
	api      *api.Client     // of the runner
	attached *local.Attached // nil: this process is not attached to the runner
	idle     bool            // the sweep that was followed was idle when the runner told of it last
	lost     bool            // the runner ended while it was followed
}

// openFolder opens the store of this folder for questions.
func (c *command) openFolder(ctx context.Context) (*localFolder, error) {
	reader, err := local.OpenReader(ctx)
	if errors.Is(err, store.ErrNone) {
		return nil, noSweep()
	} else if err != nil {
		return nil, err
	}
	return &localFolder{
		Archive: &listing.Archive{Store: reader, Stands: local.CorrectKilled(reader)},
		reader:  reader, command: c, api: c.runnerClient()}, nil
}

func (h *localFolder) close() error {
	err := h.reader.Close() // else the runner could not tidy up its files
	if h.attached != nil && h.attached.Leave() {
		h.command.messages.Note("processes that tasks left behind are being stopped")
	}
	h.api.Close()
	return err
}

// abandon lets the runner interrupt the sweeps of this client.
func (h *localFolder) abandon() {
	h.attached.Close()
	h.attached = nil
}

func (*localFolder) folder(sweep string) string { return filepath.Join(local.OutputFolder(), sweep) }

// act asks the runner of this folder, which is started for it if there is none.
func (h *localFolder) act(ctx context.Context, do func(*api.Client) error) error {
	at, err := h.command.attach(ctx, nil)
	if err != nil {
		return err
	}
	return errors.Join(at.explain(do(at.api)), at.close())
}

// explain returns why the runner ended, if a request failed for that.
func (h *localFolder) explain(err error) error {
	refusal, refused := errors.AsType[*api.Error](err)
	_, lost := errors.AsType[*api.Unreachable](err)
	if refused && refusal.Status >= http.StatusInternalServerError || lost {
		if why := h.attached.AwaitFailure(); why != nil {
			return why
		}
	}
	return err
}

func (h *localFolder) unusedRevisions(ctx context.Context, without []string) ([]string, error) {
	return local.UnusedRevisions(ctx, h.reader, without)
}

func (h *localFolder) dropRevisions(ctx context.Context) (int, error) {
	return local.DropRevisions(ctx, h.reader)
}

func (h *localFolder) client() *api.Client { return h.api }

func (*localFolder) accepts(context.Context, string, *definition.File) error { return nil }

// take keeps the files of a project as they are now.
func (*localFolder) take(ctx context.Context, dir string) (*projects.Manifest, error) {
	m, err := local.Snapshot(ctx, dir)
	return m, project.FilesError(err)
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
