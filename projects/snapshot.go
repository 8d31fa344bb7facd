package projects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// LinkSize is the size in bytes above which a file is large: tasks get links to it, and snapshots
// may contain a link to the project's file. It is 16 MiB.
const LinkSize = 16 << 20

// CopySize bounds what the large files of a project may have together, in bytes, for snapshots to
// have copies of them: 4 GiB.
const CopySize = 4 << 30

// tries is how often Take scans a project that changes meanwhile.
const tries = 3

// Take scans the project in dir and makes its snapshot, again when a file changed between the two,
// three times at most. The manifest's entries under the path are what attempts see. Errors are
// Scan's and Snapshot's.
func Take(ctx context.Context, dir, revisions string, opts Options) (m *Manifest, path string,
	err error) {
	for range tries {
		var changed *ChangedError
		m, err = Scan(ctx, dir, opts)
		if err == nil {
			path, err = Snapshot(ctx, m, revisions)
		}
		if !errors.As(err, &changed) {
			break
		}
	}
	if err != nil {
		return nil, "", err
	}
	return m, path, nil
}

// Snapshot copies the files of m to the folder revisions/<revision>, makes it read-only and returns
// its absolute path. One that is there is used as it is. The folder appears in one step, whole; any
// number of processes may make the same one at once, and what they leave when they are killed is
// removed by a later call. Files that changed since the scan are a *ChangedError, a full disk is a
// *SpaceError, and after any error there is nothing new.
//
// Files are 0444 or 0555, folders 0555; the times of files and folders are kept. Snapshots share one
// copy of a file as long as its path, content, time and mode are the same. If files over LinkSize
// exceed CopySize in total, or the disk has no room for them, they are not
// copied: each is a hard link to the project's file or, on another disk, a symbolic link to it. It
// keeps the mode it has, and editing it in place (not replacing it, as most programs do) shows in
// the snapshot.
func Snapshot(ctx context.Context, m *Manifest, revisions string) (path string, err error) {
	return snapshotter{link: os.Link, copies: CopySize}.snapshot(ctx, m, revisions)
}

// Exposed returns the large files of which snapshots have no copies because they have more than
// CopySize together: whoever writes to one in a snapshot writes to the project's own.
func (m *Manifest) Exposed() (all []Entry) {
	if m.large() <= CopySize {
		return nil
	}
	for _, e := range m.Entries {
		if e.Size > LinkSize {
			all = append(all, e)
		}
	}
	return all
}

// large is what the large files have together, in bytes.
func (m *Manifest) large() (bytes int64) {
	for _, e := range m.Entries {
		if e.Size > LinkSize {
			bytes += e.Size
		}
	}
	return bytes
}

// A snapshotter makes snapshots with a system's way to link files.
type snapshotter struct {
	link   func(from, to string) error
	write  func() error // called before a file is written; nil is no call
	copies int64        // bytes of large files that are copied, at most
}

func (s snapshotter) snapshot(ctx context.Context, m *Manifest, revisions string) (string, error) {
	revisions, err := filepath.Abs(revisions)
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", shown(m.Dir), err)
	}
	if err := outside(m, revisions); err != nil {
		return "", err
	}
	final := filepath.Join(revisions, m.Revision())
	if m.intact(ctx, final) {
		return final, nil
	}
	err = s.build(ctx, m, revisions, final)
	switch {
	case err == nil:
		return final, nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "", &SpaceError{Dir: revisions, Need: m.Bytes(), Err: err}
	}
	return "", fmt.Errorf("snapshot of %s: %w", shown(m.Dir), err)
}

// build makes the snapshot beside its place and moves it there.
func (s snapshotter) build(ctx context.Context, m *Manifest, revisions, final string) error {
	if err := os.MkdirAll(revisions, 0o755); err != nil {
		return err
	}
	removeLeftovers(revisions, temporaryPrefix, leftoverAge)
	temporary, release, err := temporaryFolder(revisions, temporaryPrefix)
	if err != nil {
		return err
	}
	defer release()
	if err := s.fill(ctx, m, revisions, temporary); err != nil {
		return errors.Join(err, removeTree(temporary))
	}
	if err := publish(ctx, m, temporary, final); err != nil {
		return errors.Join(err, removeTree(temporary))
	}
	return nil
}

// publish moves a finished folder to its place. Where another process was first, its snapshot
// stays; where the disk lost a part of an older one, that gives way.
func publish(ctx context.Context, m *Manifest, temporary, final string) error {
	for {
		err := os.Rename(temporary, final)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if m.intact(ctx, final) {
			return removeTree(temporary)
		}
		if err := remove(final); err != nil {
			return err
		}
	}
}

// outside refuses to keep snapshots where the next scan would take them for files of the project.
func outside(m *Manifest, revisions string) error {
	real, err := filepath.EvalSymlinks(revisions)
	if err != nil {
		return nil // not there yet
	}
	path, err := filepath.Rel(m.Dir, real)
	if err != nil {
		return nil
	}
	if _, inside := m.entry(filepath.ToSlash(path)); inside || path == "." {
		return fmt.Errorf("snapshot of %s: the folder for snapshots, %s, is one of its files: "+
			"leave it out with a line %s in %s", shown(m.Dir), shown(revisions),
			shown(ignoreLine(filepath.ToSlash(path))), ownRules)
	}
	return nil
}
