package projects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Unchanged reports whether the snapshot in folder, which an Assembly made of m, is as it was made,
// by what the file system says: kinds, sizes, times and executable bits. It reads no content.
func (m *Manifest) Unchanged(folder string) bool {
	return !slices.ContainsFunc(m.Entries, func(e Entry) bool {
		return e.differs(placed(folder, e), true) != nil
	})
}

// differs says how what lies at full is not the entry. timed: files must have the entry's time,
// too.
func (e Entry) differs(full string, timed bool) error {
	info, err := os.Lstat(full)
	if err != nil {
		return err
	}
	switch kind := kindOf(info); {
	case kind != e.Kind:
		return fmt.Errorf("it is not a %s", e.Kind)
	case kind == Symlink:
		if target, err := os.Readlink(full); err != nil || target != e.Link {
			return fmt.Errorf("it does not lead to %s", shown(e.Link))
		}
	case kind != File:
	case info.Size() != e.Size:
		return fmt.Errorf("it has %d bytes, not %d", info.Size(), e.Size)
	case (info.Mode()&0o100 != 0) != e.Executable():
		return errors.New("its executable bit is wrong")
	case timed && !ModTime(info).Equal(e.ModTime):
		return errors.New("it was written after it was made")
	}
	return nil
}

// Verify reads the snapshot in folder, which an Assembly made of m, and says what in it is not as
// the manifest has it: kinds, sizes, contents, targets, executable bits, and what else lies there.
// Times do not count. The errors are joined, at most 20 of them.
func (m *Manifest) Verify(ctx context.Context, folder string) error {
	wrong := make([]error, len(m.Entries))
	err := each(ctx, defaultWorkers(), len(m.Entries), func(ctx context.Context, i int) error {
		e := m.Entries[i]
		full := placed(folder, e)
		err := e.differs(full, false)
		if err == nil && e.Kind == File && !hasHash(ctx, full, e.Hash) {
			err = errors.New("its content is not that of the revision")
		}
		if err != nil {
			wrong[i] = fmt.Errorf("%s: %w", shown(e.Path), err)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	wrong = slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
	wrong = append(wrong, m.strangers(folder)...)
	return errors.Join(wrong[:min(len(wrong), shownFaults)]...)
}

// strangers are what lies in a snapshot and is not in its manifest.
func (m *Manifest) strangers(folder string) (found []error) {
	_ = filepath.WalkDir(folder, func(full string, item fs.DirEntry, err error) error {
		path, _ := filepath.Rel(folder, full)
		_, known := m.entry(filepath.ToSlash(path))
		switch {
		case path == "." && err == nil || known && err == nil:
			return nil
		case err != nil:
			found = append(found, err)
		default:
			found = append(found, fmt.Errorf("%s: it is not of the revision", shown(path)))
		}
		if item != nil && item.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}
