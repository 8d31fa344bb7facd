package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mlframework/projects"
)

// RevisionFolder returns the folder with the files of a revision.
func RevisionFolder(revision string) (string, error) {
	folder, err := filepath.Abs(filepath.Join(RevisionsFolder(), revision))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(folder); err != nil {
		return "", fmt.Errorf("the files of revision %s are gone: %w", revision, err)
	}
	return folder, nil
}

// remake makes the files of a revision anew, from the project of a sweep that runs them, if that
// has not changed since. It does nothing if they are right, as after another revision, with which
// they share files, was made anew.
func (r *Runner) remake(ctx context.Context, revision string) error {
	m, err := projects.Scan(ctx, filepath.Join(RevisionsFolder(), revision),
		projects.Options{Snapshot: true})
	if err == nil && m.Revision() == revision {
		return nil
	}
	sweeps, err := r.store.List(ctx, "", 0)
	if err != nil {
		return err
	}
	err = errors.New("no sweep has its project: run a new one")
	for _, s := range slices.Backward(sweeps) { // the newest first
		if s.Outline.Revision != revision {
			continue
		}
		m, unread := projects.Scan(ctx, s.Outline.Project, projects.Options{})
		if unread != nil {
			err = unread
			continue
		}
		if m.Revision() != revision {
			err = fmt.Errorf("the project in %s has changed since: run a new sweep",
				s.Outline.Project)
			continue
		}
		return projects.Rebuild(ctx, m, RevisionsFolder())
	}
	return err
}
