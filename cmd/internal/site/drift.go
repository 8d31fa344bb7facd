package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/plan"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// Drift is a worker whose container differs from what tasks.yml asks for.
type Drift struct {
	Worker      string
	Differences []string // "image: running python:3.11-slim, tasks.yml has python:3.12-slim"
}

// String returns the differences on one line.
func (d Drift) String() string { return strings.Join(d.Differences, "; ") }

// Drifts compares what a project's tasks.yml says of containers with what the workers report of
// theirs. What cluster.yml sets for a host is not a difference. Workers that are away or do not
// report their container are left out.
func Drifts(ctx context.Context, dir string, file *definition.File,
	workers []core.Worker) (all []Drift, err error) {
	var files *projects.Manifest
	if file.Build != "" {
		if files, err = projects.Scan(ctx, dir,
			projects.Options{Cache: HashCache(dir)}); err != nil {
			return nil, err
		}
	}
	wanted, err := project(file, files)
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		if w.State == core.WorkerAway || w.Made == nil {
			continue
		}
		e, err := plan.ParseEnvironment(*w.Made)
		if err != nil {
			continue // it was started by hand, and reports no environment
		}
		if d := wanted.Differences(e); len(d) > 0 {
			all = append(all, Drift{w.Name, d})
		}
	}
	return all, nil
}

// driftRemedy says what to do about a Drift.
const driftRemedy = "run infrainit -f to recreate the worker"

// DriftError returns an error that names the workers that do not match tasks.yml of the project in
// dir; nil if all is empty. The remedy ends with undone, which says what the command did not do.
// Configured is the project that infrainit makes workers for unless told otherwise.
func DriftError(all []Drift, dir, configured, undone string) error {
	if len(all) == 0 {
		return nil
	}
	var texts []string
	names := map[string][]string{}
	for _, d := range all {
		text := d.String()
		if names[text] == nil {
			texts = append(texts, text)
		}
		names[text] = append(names[text], d.Worker)
	}
	for i, text := range texts {
		texts[i] = strings.Join(names[text], ", ") + ": " + text
	}
	remedy := "run infrainit -f to recreate them; "
	if configured != "" && !sameFolder(dir, configured) {
		remedy = "they were made for the project in " + configured + ": run " +
			human.CommandLine([]string{"infrainit", "-f", "-d", dir}) +
			" to recreate them for this one; "
	}
	return &cli.Error{Code: cli.Invalid,
		Err:    errors.New("workers do not match tasks.yml: " + strings.Join(texts, "\n  ")),
		Remedy: remedy + undone}
}

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// drifts finds the workers that do not match tasks.yml of the configured project, if that is on
// this machine.
func (s *Site) drifts(ctx context.Context, workers []core.Worker) (all []Fault) {
	dir := s.Config.Options.Project
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, definition.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, _, err := definition.Load(dir, nil)
	var drifts []Drift
	if err == nil {
		drifts, err = Drifts(ctx, dir, file, workers)
	}
	if err != nil {
		return []Fault{{What: fmt.Sprintf("the workers were not compared with tasks.yml: %v", err),
			Remedy: `run "run-tasks --dry-run NAME" to see the error`}}
	}
	for _, d := range drifts {
		all = append(all, Fault{Host: d.Worker,
			What: "worker does not match tasks.yml: " + d.String(), Remedy: driftRemedy})
	}
	return all
}
