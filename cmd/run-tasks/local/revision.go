package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"mlframework/projects"
	"mlframework/sweep/store"
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

// UnusedRevisions lists the revisions in the folder that no sweep of its store needs, but for some
// sweeps. While there is a runner it lists none: the runner remembers the files of revisions, and
// would take one that is made anew for modified.
func UnusedRevisions(ctx context.Context, r *store.Reader, without []string) (unused []string,
	err error) {
	entries, err := os.ReadDir(RevisionsFolder())
	if errors.Is(err, fs.ErrNotExist) || runs() {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	needed, err := r.NeededRevisions(ctx, without)
	for _, e := range entries {
		if err == nil && projects.IsRevision(e.Name()) && !needed[e.Name()] {
			unused = append(unused, e.Name())
		}
	}
	return unused, err
}

// DropRevisions removes the revisions that no sweep needs, unless one was kept a moment ago: its
// sweep is about to be submitted. It returns how many it removed.
func DropRevisions(ctx context.Context, r *store.Reader) (n int, err error) {
	folder, err := lockRevisions(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer folder.Close()
	unused, err := UnusedRevisions(ctx, r, nil)
	for _, revision := range unused {
		if err = projects.Remove(RevisionsFolder(), revision); err != nil {
			break
		}
		n++
	}
	return n, err
}

// submitTime is how long a revision that was kept has for its sweep to be submitted.
const submitTime = time.Minute

// holdRevisions keeps revisions from being removed until this process ends, or has had the time to
// submit a sweep.
func holdRevisions() error {
	folder, err := lockRevisions(syscall.LOCK_SH)
	if err == nil {
		time.AfterFunc(submitTime, func() { folder.Close() })
	}
	return err
}

// lockRevisions locks the folder of revisions, until the file is closed. Where the file system has
// no locks nobody waits for one.
func lockRevisions(how int) (*os.File, error) {
	folder, err := os.Open(RevisionsFolder())
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(folder.Fd()), how)
	}
	if err == syscall.EWOULDBLOCK {
		folder.Close()
		return nil, err
	}
	return folder, nil
}
