package folder

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// linkedSize is the size above which a file of a snapshot may be a link to the user's own, in bytes.
const linkedSize = 16 << 20

// Written says that a snapshot was written to while an attempt ran.
type Written struct {
	Path    string // of the first that differs, in the project
	Removed bool
	Added   bool // something new in the folder Path, which is "" for the project's own
}

func (w *Written) Error() string {
	if w.Added {
		return fmt.Sprintf("the project's snapshot was written to while it ran: something new is in %s/: "+
			"let the program write into its own folder, $OUTPUT_DIR", path.Join("PROJECT", w.Path))
	}
	what := "was changed"
	if w.Removed {
		what = "was removed"
	}
	return fmt.Sprintf("%s of the project's snapshot %s while it ran, through a link: "+
		"a line copy: [%s] at the top of tasks.yml gives every task its own", w.Path, what, w.Path)
}

// snapshot is the files of a revision, and whether they are as they were.
type snapshot struct {
	revision, path string

	mu         sync.Mutex
	root       identity
	listed     []Entry
	ids        []identity // of listed, followed where they are files
	generation int        // counts how often it was written to
	written    *Written   // it has to be made anew; nil: it is whole
}

func newSnapshot(revision, path string) (*snapshot, error) {
	s := &snapshot{revision: revision, path: path}
	return s, s.list()
}

// list reads what is there. The caller holds the lock, or is the only one that knows it.
func (s *snapshot) list() (err error) {
	if s.root, err = lstat(s.path); err != nil {
		return err
	}
	if s.listed, err = list(s.path); err != nil {
		return fmt.Errorf("read the files of revision %s: %w", s.revision, err)
	}
	s.ids = make([]identity, len(s.listed))
	for i := range s.listed {
		if s.ids[i], err = s.identity(s.listed[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) identity(e Entry) (identity, error) {
	var st unix.Stat_t
	stat := unix.Lstat
	if e.Kind == File {
		stat = unix.Stat
	}
	err := retry(func() error { return stat(s.path+"/"+e.Path, &st) })
	return identify(&st), err
}

func (s *snapshot) entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// whole reports whether nothing wrote to the snapshot that was found.
func (s *snapshot) whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written == nil
}

// clones reports whether files of the snapshot can be cloned into a folder.
func (s *snapshot) clones(folder string) bool {
	i := slices.IndexFunc(s.listed, func(e Entry) bool { return e.Kind == File && e.Size > 0 })
	return i >= 0 && Clones(filepath.Join(s.path, s.listed[i].Path), folder)
}

// ready returns the generation of the snapshot; one that was written to is made anew first.
func (s *snapshot) ready(ctx context.Context, remake func(context.Context, string) error) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := lstat(s.path)
	if err != nil {
		return 0, fmt.Errorf("the files of revision %s are gone: %w", s.revision, err)
	}
	switch {
	case s.written == nil && root.inode == s.root.inode:
		return s.generation, nil
	case s.written == nil: // it was removed and brought again
	case remake == nil:
		return 0, fmt.Errorf("the files of revision %s are not what they were: an earlier attempt found that %w; "+
			"remove %s and bring them again", s.revision, s.written, s.path)
	default:
		if err := remake(ctx, s.revision); err != nil {
			return 0, fmt.Errorf("the files of revision %s are not what they were: an earlier attempt found that %w; "+
				"they cannot be made anew: %w", s.revision, s.written, err)
		}
	}
	if err := s.list(); err != nil {
		return 0, err
	}
	s.written = nil
	return s.generation, nil
}

// check reports whether the snapshot is as it was at a generation; the error is *Written.
func (s *snapshot) check(generation int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written != nil {
		return s.written
	}
	if s.generation != generation {
		return errRemade
	}
	if readOnly(s.path) {
		return nil
	}
	if s.written = s.compare(); s.written != nil {
		s.generation++
		return s.written
	}
	return nil
}

// errRemade is for attempts that ran when another one found the snapshot changed.
var errRemade = errors.New("another task wrote to the project's snapshot while this one ran")

// compare looks for what is not as it was: a file first, as that says more than the folder that it is in.
func (s *snapshot) compare() *Written {
	root, err := lstat(s.path)
	switch {
	case errors.Is(err, unix.ENOENT), root.inode != s.root.inode: // it was removed by those who keep it
		return nil
	case root.mtime != s.root.mtime:
		return &Written{Added: true}
	}
	var added *Written
	for i, e := range s.listed {
		now, err := s.identity(e)
		switch {
		case err != nil:
			return &Written{Path: e.Path, Removed: true}
		case now == s.ids[i]:
		case e.Kind == File && e.Size > linkedSize && now.contentOf(s.ids[i]): // a link to it was made or removed elsewhere
		case e.Kind == Dir:
			if added == nil && now.mtime != s.ids[i].mtime {
				added = &Written{Path: e.Path, Added: true}
			}
		default:
			return &Written{Path: e.Path}
		}
	}
	return added
}

// contentOf reports whether an identity is another's, but for the time at which it was linked.
func (id identity) contentOf(then identity) bool {
	then.ctime, then.links = id.ctime, id.links
	return id == then
}
