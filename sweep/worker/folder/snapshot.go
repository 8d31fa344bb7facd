package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// ModifiedError is the error for a snapshot that was modified while an attempt ran.
type ModifiedError struct {
	// of the first difference, relative to the project
	Path    string
	Removed bool
	Added   bool // something new in the folder Path, which is "" for the project's own
}

func (e *ModifiedError) Error() string {
	if e.Added {
		return fmt.Sprintf(
			"the project's snapshot was written to while it ran: something new is in %s/: "+
				"let the program write into its own folder, $OUTPUT_DIR",
			path.Join("PROJECT", e.Path))
	}
	what := "was changed"
	if e.Removed {
		what = "was removed"
	}
	return fmt.Sprintf("%s in the project snapshot %s through a link during the run; "+
		"to give each task its own copy, add copy: [%s] at the top level of tasks.yml", e.Path,
		what, e.Path)
}

// snapshot is the files of a revision, and whether they are unmodified.
type snapshot struct {
	revision, path string

	// held while the snapshot is rebuilt or listed again
	rebuilding sync.Mutex

	// never held during file operations
	mu     sync.Mutex
	listed *listing
	// how often it was modified
	generation int
	// it has to be rebuilt; nil: it is intact
	modified *ModifiedError
}

// listing is what was found in a snapshot. It is immutable.
type listing struct {
	root    identity
	entries []Entry
	ids     []identity // of entries, followed where they are files
}

func newSnapshot(revision, path string) (s *snapshot, err error) {
	s = &snapshot{revision: revision, path: path}
	s.listed, err = s.list()
	return s, err
}

// list reads what is there.
func (s *snapshot) list() (l *listing, err error) {
	l = &listing{}
	if l.root, err = lstat(s.path); err != nil {
		return nil, err
	}
	if l.entries, err = listEntries(s.path); err != nil {
		return nil, fmt.Errorf("read the files of revision %s: %w", s.revision, err)
	}
	l.ids = make([]identity, len(l.entries))
	for i := range l.entries {
		if l.ids[i], err = s.identity(l.entries[i]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// listEntries returns the entries of a snapshot. A file that is too large to copy may be a symbolic
// link out of the snapshot: it counts as a file.
func listEntries(snapshot string) (entries []Entry, err error) {
	var walk func(string) error
	walk = func(folder string) error {
		items, err := os.ReadDir(filepath.Join(snapshot, folder))
		if err != nil {
			return err
		}
		for _, i := range items {
			at := path.Join(folder, i.Name())
			info, err := i.Info()
			if err != nil {
				return err
			}
			e := Entry{Path: at, ModTime: info.ModTime()}
			switch {
			case info.IsDir():
				e.Kind = Dir
			case info.Mode()&os.ModeSymlink != 0:
				e.Kind = Symlink
				if e.Target, err = os.Readlink(filepath.Join(snapshot, at)); err != nil {
					return err
				}
				if filepath.IsAbs(e.Target) {
					if info, err = os.Stat(e.Target); err != nil {
						return fmt.Errorf("%s of the project is a link to a file that is gone: %w",
							at, err)
					}
				}
			}
			if info.Mode().IsRegular() {
				e.Kind, e.Size, e.Executable, e.ModTime = File, info.Size(),
					info.Mode()&0o100 != 0, info.ModTime()
			}
			entries = append(entries, e)
			if e.Kind == Dir {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return entries, walk("")
}

func (s *snapshot) identity(e Entry) (identity, error) {
	var st unix.Stat_t
	stat := unix.Lstat
	if e.Kind == File {
		stat = unix.Stat
	}
	err := retry(func() error { return stat(s.path+"/"+e.Path, &st) })
	return identityOf(&st), err
}

func (s *snapshot) entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed.entries
}

// intact reports whether the snapshot has not been found modified.
func (s *snapshot) intact() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modified == nil
}

// clones reports whether files of the snapshot can be cloned into a folder.
func (s *snapshot) clones(folder string) bool {
	all := s.entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Kind == File && e.Size > 0 })
	return i >= 0 && CanClone(filepath.Join(s.path, all[i].Path), folder)
}

// ready returns the generation of the snapshot; one that was modified is rebuilt first.
func (s *snapshot) ready(ctx context.Context, rebuild func(context.Context, string) error) (int,
	error) {
	if generation, whole, err := s.current(); whole || err != nil {
		return generation, err
	}
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	generation, whole, err := s.current()
	if whole || err != nil {
		return generation, err // another one did it
	}
	s.mu.Lock()
	modified := s.modified
	s.mu.Unlock()
	const changed = "the files of revision %s are not what they were: " +
		"an earlier attempt found that %w; "
	switch {
	case modified == nil: // the snapshot was removed and brought again
	case rebuild == nil:
		return 0, fmt.Errorf(changed+"remove %s and bring them again", s.revision, modified, s.path)
	default:
		if err := rebuild(ctx, s.revision); err != nil {
			return 0, fmt.Errorf(changed+"they cannot be made anew: %w", s.revision, modified, err)
		}
	}
	listed, err := s.list()
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.modified = listed, nil
	return s.generation, nil
}

// current returns the generation of the snapshot, and whether it is the one that was listed and
// has not been found modified.
func (s *snapshot) current() (generation int, whole bool, err error) {
	root, err := lstat(s.path)
	if err != nil {
		return 0, false, fmt.Errorf("the files of revision %s are gone: %w", s.revision, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation, s.modified == nil && root.Inode == s.listed.root.Inode, nil
}

// check returns an error if the snapshot is no longer as it was at a generation: a *ModifiedError,
// or errRebuilt.
func (s *snapshot) check(generation int) error {
	listed, err := s.listingAt(generation)
	if err != nil || readOnly(s.path) {
		return err
	}
	difference := s.compare(listed)
	now, err := s.listingAt(generation)
	switch {
	case err != nil: // another attempt found it meanwhile
		return err
	case difference == nil || now != listed: // or it was brought again
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modified == nil && s.generation == generation {
		s.modified = difference
		s.generation++
	}
	return difference
}

// listingAt returns the listing of a generation; an error if the snapshot was modified since.
func (s *snapshot) listingAt(generation int) (*listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.modified != nil:
		return nil, s.modified
	case s.generation != generation:
		return nil, errRebuilt
	}
	return s.listed, nil
}

// errRebuilt is for attempts that were running when another one found the snapshot modified.
var errRebuilt = errors.New("another task wrote to the project's snapshot while this one ran")

// compare returns the first difference from a listing, preferably a file, which says more than its
// folder.
func (s *snapshot) compare(l *listing) *ModifiedError {
	root, err := lstat(s.path)
	switch {
	case errors.Is(err, unix.ENOENT), root.Inode != l.root.Inode:
		// the owner of the snapshots removed it
		return nil
	case root.Mtime != l.root.Mtime:
		return &ModifiedError{Added: true}
	}
	var added *ModifiedError
	for i, e := range l.entries {
		now, err := s.identity(e)
		switch {
		case err != nil:
			return &ModifiedError{Path: e.Path, Removed: true}
		case now == l.ids[i]:
		case e.Kind == File && now.sameContent(l.ids[i]):
			// only its number of links changed: another snapshot shares it, or did before
		case e.Kind == Dir:
			if added == nil && now.Mtime != l.ids[i].Mtime {
				added = &ModifiedError{Path: e.Path, Added: true}
			}
		default:
			return &ModifiedError{Path: e.Path}
		}
	}
	return added
}

// sameContent reports whether an identity is another's, but for the time at which it was linked.
func (id identity) sameContent(then identity) bool {
	then.Ctime = id.Ctime
	return id == then
}
