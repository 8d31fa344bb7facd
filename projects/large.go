package projects

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// largeFiles puts files over LinkSize into a snapshot.
type largeFiles struct {
	snapshotter
	copied bool     // they are copied; else linked
	others []string // folders of other snapshots
}

// others are the snapshots that there are.
func others(revisions string) (folders []string) {
	items, err := os.ReadDir(revisions)
	if err != nil {
		return nil // then nothing is shared
	}
	for _, item := range items {
		if IsRevision(item.Name()) {
			folders = append(folders, filepath.Join(revisions, item.Name()))
		}
	}
	return folders
}

// place shares the copy that another snapshot has, else copies the file, else links it.
func (l largeFiles) place(ctx context.Context, m *Manifest, e Entry, to string) error {
	if !l.copied {
		return l.linkFile(ctx, m, e, to)
	}
	if l.share(m, e, to) {
		return nil
	}
	err := copyFile(ctx, m, e, to)
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if err := os.Remove(to); err != nil {
		return err
	}
	return l.linkFile(ctx, m, e, to)
}

// share links a file from another snapshot that has a copy of it. One that was written to has
// another time.
func (l largeFiles) share(m *Manifest, e Entry, to string) bool {
	own, err := os.Lstat(placed(m.Dir, e))
	if err != nil {
		return false
	}
	for _, folder := range l.others {
		from := placed(folder, e)
		info, err := os.Lstat(from)
		if err == nil && info.Mode() == e.sealedMode() && info.Size() == e.Size &&
			info.ModTime().Equal(e.ModTime) && !os.SameFile(info, own) && l.link(from, to) == nil {
			return true
		}
	}
	return false
}
