package projects

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// sharedName is the file beside the snapshots with the hashes of their large files, so that these
// are not read again for each new snapshot.
const sharedName = ".large"

// sharedFiles puts files into a snapshot. Files that another snapshot has unchanged are linked from
// there.
type sharedFiles struct {
	snapshotter
	copied bool     // files over LinkSize are copied; else they are links to the project's files
	others []string // folders of other snapshots
	known  cache    // large files in other snapshots, by inode
}

func (s snapshotter) sharedFiles(m *Manifest, revisions string) sharedFiles {
	f := sharedFiles{snapshotter: s, copied: m.large() <= s.copies, others: others(revisions)}
	if f.copied && m.large() > 0 {
		f.known = loadCache(filepath.Join(revisions, sharedName))
	}
	return f
}

// Rebuild makes the snapshot of m anew, from the project, after a file of it was written to. Other
// snapshots that share such a file get the new one.
func Rebuild(ctx context.Context, m *Manifest, revisions string) error {
	folder := filepath.Join(revisions, m.Revision())
	written := map[Entry]os.FileInfo{}
	for _, e := range m.Entries {
		full := placed(folder, e)
		if info, err := os.Lstat(full); err == nil && e.Kind == File && info.Mode().IsRegular() &&
			!ModTime(info).Equal(e.ModTime) && !hasHash(ctx, full, e.Hash) {
			written[e] = info
		}
	}
	if err := Remove(revisions, m.Revision()); err != nil {
		return err
	}
	if _, err := Snapshot(ctx, m, revisions); err != nil {
		return err
	}
	for _, other := range snapshots(revisions) {
		for e, info := range written {
			now, err := os.Lstat(placed(other, e))
			if err == nil && os.SameFile(now, info) {
				err = replace(placed(folder, e), placed(other, e), revisions)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// replace puts a link to a file in the place of another one in a read-only folder.
func replace(file, other, revisions string) error {
	folder := filepath.Dir(other)
	info, err := os.Stat(folder)
	if err == nil {
		err = os.Chmod(folder, 0o755)
	}
	if err != nil {
		return err
	}
	aside := filepath.Join(revisions, temporaryPrefix+"link-"+rand.Text())
	if err = os.Link(file, aside); err == nil {
		err = os.Rename(aside, other)
	}
	return errors.Join(err, os.Chtimes(folder, info.ModTime(), info.ModTime()),
		os.Chmod(folder, info.Mode()))
}

// mostOthers is the maximum number of snapshots that are searched for files to share.
const mostOthers = 16

// others returns the newest snapshots.
func others(revisions string) []string {
	folders := snapshots(revisions)
	return folders[:min(len(folders), mostOthers)]
}

// snapshots returns all snapshots, the newest first.
func snapshots(revisions string) (folders []string) {
	items, err := os.ReadDir(revisions)
	if err != nil {
		return nil // then nothing is shared
	}
	made := map[string]time.Time{}
	for _, item := range items {
		if info, err := item.Info(); err == nil && IsRevision(item.Name()) {
			folder := filepath.Join(revisions, item.Name())
			folders, made[folder] = append(folders, folder), info.ModTime()
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return made[b].Compare(made[a]) })
	return folders
}

// place shares the copy of another snapshot, or copies the file. A large file that cannot be copied
// is linked.
func (f sharedFiles) place(ctx context.Context, m *Manifest, e Entry, to string) error {
	large := e.Size > LinkSize
	switch {
	case large && !f.copied:
		return f.linkFile(ctx, m, e, to)
	case f.share(ctx, m, e, to):
		return nil
	case !large && f.write != nil:
		if err := f.write(); err != nil {
			return err
		}
	}
	err := copyFile(ctx, m, e, to)
	if !large || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if err := os.Remove(to); err != nil {
		return err
	}
	return f.linkFile(ctx, m, e, to)
}

// share links a file from another snapshot that has a copy of it. Size and time do not tell
// contents apart: archives and package managers give all files one time, and programs can set it.
func (f sharedFiles) share(ctx context.Context, m *Manifest, e Entry, to string) bool {
	own, err := os.Lstat(placed(m.Dir, e))
	if err != nil {
		return false
	}
	seen := []os.FileInfo{own} // and files that have another content
	for _, folder := range f.others {
		from := placed(folder, e)
		info, err := os.Lstat(from)
		if err != nil || info.Mode() != e.sealedMode() || info.Size() != e.Size ||
			!ModTime(info).Equal(e.ModTime) ||
			slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		if f.holds(ctx, from, info, e.Hash) && f.link(from, to) == nil {
			return true
		}
		seen = append(seen, info)
	}
	return false
}

// holds reports whether a file of a snapshot has that hash. It reads a file that was written to, or
// linked by somebody else, since remember saw it.
func (f sharedFiles) holds(ctx context.Context, full string, info os.FileInfo, hash string) bool {
	id, ok := identify(info)
	if known := f.known[id.inode()]; ok && known.Identity == id {
		return known.Hash == hash
	}
	return hasHash(ctx, full, hash)
}

// remember keeps what the large files in the folder of a new snapshot hold, for the next one. What
// cannot be written is read then.
func (f sharedFiles) remember(m *Manifest, revisions, folder string) {
	now := f.known.with(nil)
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
	if !now.equal(f.known) {
		_ = now.save(filepath.Join(revisions, sharedName))
	}
}
