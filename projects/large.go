package projects

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// sharedName is the file beside the snapshots with the hashes of their large files, so that these
// are not read again for each new snapshot.
const sharedName = ".large"

// largeFiles puts files over LinkSize into a snapshot.
type largeFiles struct {
	snapshotter
	copied bool     // they are copied; else linked
	others []string // folders of other snapshots
	shared cache    // large files of those, by inode
}

func (s snapshotter) largeFiles(m *Manifest, revisions string) largeFiles {
	l := largeFiles{snapshotter: s, copied: m.large() <= s.copies}
	if l.copied && m.large() > 0 {
		l.others, l.shared = others(revisions), loadCache(filepath.Join(revisions, sharedName))
	}
	return l
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
	if l.share(ctx, m, e, to) {
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

// share links a file from another snapshot that has a copy of it. Size and time do not tell
// contents apart: archives and package managers give all files one time, and programs can set it.
func (l largeFiles) share(ctx context.Context, m *Manifest, e Entry, to string) bool {
	own, err := os.Lstat(placed(m.Dir, e))
	if err != nil {
		return false
	}
	seen := []os.FileInfo{own} // and files that have another content
	for _, folder := range l.others {
		from := placed(folder, e)
		info, err := os.Lstat(from)
		if err != nil || info.Mode() != e.sealedMode() || info.Size() != e.Size ||
			!ModTime(info).Equal(e.ModTime) ||
			slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		if l.holds(ctx, from, info, e.Hash) && l.link(from, to) == nil {
			return true
		}
		seen = append(seen, info)
	}
	return false
}

// holds reports whether a file of a snapshot has that hash. It reads a file that was written to, or
// linked by somebody else, since remember saw it.
func (l largeFiles) holds(ctx context.Context, full string, info os.FileInfo, hash string) bool {
	id, ok := identify(info)
	if known := l.shared[id.inode()]; ok && known.Identity == id {
		return known.Hash == hash
	}
	return hasHash(ctx, full, hash)
}

// remember keeps what the large files in the folder of a new snapshot hold, for the next one. What
// cannot be written is read then.
func (l largeFiles) remember(m *Manifest, revisions, folder string) {
	now := l.shared.with(nil)
	for _, e := range m.Entries {
		if e.Size <= LinkSize {
			continue
		}
		info, err := os.Lstat(placed(folder, e))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if id, ok := identify(info); ok {
			now[id.inode()] = cached{Path: id.inode(), Hash: e.Hash, Identity: id}
		}
	}
	if !now.equal(l.shared) {
		_ = now.save(filepath.Join(revisions, sharedName))
	}
}
