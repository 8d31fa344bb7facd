package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Recover takes copies out of the folders of tasks in which a killed worker left them, and removes
// its idle copies. What stays in the folders is what differs from the snapshot. Call it before
// attempts start.
func (s *Store) Recover() {
	entries, err := os.ReadDir(s.o.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		path := filepath.Join(s.o.Home, e.Name())
		if u, ok := readRecord(path); ok && strings.HasSuffix(e.Name(), recordSuffix) {
			if failed := s.recover(u); failed != nil {
				s.o.Log.Warn("what a task left unchanged is still in its folder", "folder", u.Dir,
					"error", failed)
			}
		}
		err = errors.Join(err, removeAll(path))
	}
	if err != nil {
		s.o.Log.Warn("cannot remove copies of projects that a killed worker made", "error", err)
	}
}

// recover takes one copy out, comparing by content.
func (s *Store) recover(u recordContent) error {
	if _, err := os.Lstat(u.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	p, err := s.Project(u.Revision, u.Rules)
	if err != nil {
		return err
	}
	return p.removeUnchanged(u.Dir)
}

// removeUnchanged removes from a folder what is the same as in the project, comparing by content.
func (p *Project) removeUnchanged(dir string) error {
	n := len(p.builder.plan.items)
	t := &projectCopy{project: p, ids: make([]identity, n), present: make([]bool, n)}
	for i := range t.present {
		t.present[i] = true
	}
	l := t.newDetacher(dir, 0)
	l.remove = true
	if err := l.check(); err != nil {
		return err
	}
	return l.move()
}
