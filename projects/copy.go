package projects

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// fill puts the files of m into an empty folder and makes it read-only.
func (s snapshotter) fill(ctx context.Context, m *Manifest, revisions, folder string) error {
	files := s.sharedFiles(m, revisions)
	for _, e := range m.Entries {
		if e.Kind == Dir {
			if err := os.Mkdir(placed(folder, e), 0o755); err != nil {
				return err
			}
		}
	}
	err := each(ctx, defaultWorkers(), len(m.Entries), func(ctx context.Context, i int) error {
		e, to := m.Entries[i], placed(folder, m.Entries[i])
		switch e.Kind {
		case Dir:
			return nil
		case Symlink:
			return os.Symlink(e.Link, to)
		}
		return files.place(ctx, m, e, to)
	})
	if err != nil {
		return err
	}
	if files.copied {
		files.remember(m, revisions, folder)
	}
	for _, e := range slices.Backward(m.Entries) { // after what they hold, which sets their times
		if e.Kind == Dir {
			if err := seal(placed(folder, e), e); err != nil {
				return err
			}
		}
	}
	return os.Chmod(folder, 0o555)
}

// placed returns where an entry is below a folder.
func placed(folder string, e Entry) string {
	return filepath.Join(folder, filepath.FromSlash(e.Path))
}

// copyFile copies a file and sees that it still has its hash.
func copyFile(ctx context.Context, m *Manifest, e Entry, to string) error {
	from, err := openFile(m, e)
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = pour(ctx, io.MultiWriter(out, sum), from)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if hexSum(sum) != e.Hash {
		return &ChangedError{e.Path}
	}
	return seal(to, e)
}

// sealedMode is the mode of an entry in a snapshot.
func (e Entry) sealedMode() os.FileMode {
	if e.Kind == Dir || e.Executable() {
		return 0o555
	}
	return 0o444
}

// seal sets the time of an entry, then its mode.
func seal(path string, e Entry) error {
	if err := os.Chtimes(path, e.ModTime, e.ModTime); err != nil {
		return err
	}
	return os.Chmod(path, e.sealedMode())
}

// linkFile links a large file, which is not read again while its identity is that of the scan.
func (s snapshotter) linkFile(ctx context.Context, m *Manifest, e Entry, to string) error {
	source := placed(m.Dir, e)
	info, err := os.Lstat(source)
	if err != nil {
		return readFault(e.Path, err)
	}
	id, known := identify(info)
	trusted := known && id.untouched(m.seen[e.Path])
	if !unchanged(e, info) || !trusted && !hasHash(ctx, source, e.Hash) {
		return &ChangedError{e.Path}
	}
	if err := s.link(source, to); unlinkable(err) {
		err = os.Symlink(source, to)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	linked, err := os.Stat(to)
	if err != nil || !os.SameFile(info, linked) || !unchanged(e, linked) {
		return &ChangedError{e.Path}
	}
	return nil
}

// unlinkable reports whether a hard link is impossible here: another file system, one that has
// none, too many already, or a file that is not the user's own (protected_hardlinks).
func unlinkable(err error) bool {
	for _, reason := range []error{syscall.EXDEV, syscall.EPERM, syscall.EACCES, syscall.EMLINK,
		syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
