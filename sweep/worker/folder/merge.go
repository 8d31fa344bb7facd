package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// merge adds the copy to what an earlier attempt left.
func (w *Workspace) merge() error {
	m := merger{Workspace: w, items: w.copy.project.builder.plan.items}
	if err := m.folder(0, len(m.items)); err != nil {
		return err
	}
	for _, i := range m.moved {
		id, err := lstat(w.Dir + "/" + m.items[i].Path)
		if err != nil {
			return err
		}
		w.copy.ids[i] = id
	}
	return removeAll(w.copy.path)
}

// merger adds a copy to an existing folder.
type merger struct {
	*Workspace
	items []item
	// items with new identities
	moved []int
	// the folder is on another file system
	otherFilesystem bool
}

// folder merges the items of one folder.
func (m *merger) folder(from, end int) error {
	for i := from; i < end; i = m.items[i].end {
		it := &m.items[i]
		path := m.Dir + "/" + it.Path
		id, err := lstat(path)
		switch {
		case err == nil && id.isDir() && it.method == methodDir:
			m.copy.ids[i] = identity{} // it is never as it was: the task has something in it
			if err := m.folder(i+1, it.end); err != nil {
				return err
			}
			continue
		case err == nil && m.fromEarlierCopy(it, id, path):
			if err := os.Remove(path); err != nil {
				return err
			}
		case err == nil: // the task's own
			m.markAbsent(i)
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := m.moveIn(i, path); err != nil {
			return err
		}
	}
	return nil
}

// markAbsent records that an item was not put into the folder.
func (m *merger) markAbsent(i int) {
	for n := i; n < m.items[i].end; n++ {
		m.copy.present[n], m.copy.incomplete = false, true
		m.copy.ids[n] = identity{}
	}
}

// moveIn moves an item with everything below it into the folder.
func (m *merger) moveIn(i int, path string) error {
	if !m.otherFilesystem {
		err := rename(m.copy.path+"/"+m.items[i].Path, path)
		if err == nil {
			m.moved = append(m.moved, i)
			return nil
		}
		if m.otherFilesystem = errors.Is(err, syscall.EXDEV); !m.otherFilesystem {
			return err
		}
	}
	var below []int
	for n := i; n < m.items[i].end; n++ {
		below = append(below, n)
	}
	m.moved = append(m.moved, below...)
	return m.project.builder.makeAll(context.Background(), below, m.Dir, m.copy.ids)
}

// fromEarlierCopy reports whether what is at an item's path was put there for an earlier attempt:
// an unchanged copy that a killed worker left, or a link into a snapshot.
func (m *merger) fromEarlierCopy(it *item, id identity, path string) bool {
	switch {
	case id.isLink():
		target, err := os.Readlink(path)
		if err != nil || it.method == methodKeepLink {
			return err == nil && target == it.Target
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		revisions := filepath.Dir(m.project.builder.snapshot) + "/"
		real, _ := filepath.EvalSymlinks(filepath.Dir(target))
		return target == it.Target || strings.HasPrefix(target, revisions) ||
			strings.HasPrefix(real+"/", revisions)
	case id.isFile() && it.method == methodCopy:
		return id.size == it.Size && id.mtime == it.ModTime.UnixNano() &&
			id.executable() == it.Executable &&
			m.project.builder.matches(it, path)
	}
	return false
}
