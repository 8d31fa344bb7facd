package projects_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mlframework/projects"
)

// withLarge is a project with a file that is linked and one that is just not.
func withLarge(t *testing.T) (dir, revisions string) {
	dir, revisions = plant(t, tree{"a": "1"}), makeRemovable(t, t.TempDir())
	sparse(t, dir+"/large", projects.LinkSize+1)
	sparse(t, dir+"/limit", projects.LinkSize)
	return dir, revisions
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	first, err := os.Stat(a)
	check(t, err)
	second, err := os.Stat(b)
	check(t, err)
	return os.SameFile(first, second)
}

// TestFilesAreCopiedOnce: writing to a snapshot's file never changes the user's file, and another
// snapshot shares the copy as long as it is unchanged.
func TestFilesAreCopiedOnce(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	_, first := snapshot(t, dir, revisions)
	if same(t, dir+"/large", first+"/large") {
		t.Error("the snapshot has the user's own file")
	}
	plantIn(t, dir, tree{"a": "2"})
	_, second := snapshot(t, dir, revisions)
	for _, name := range []string{"/large", "/limit"} {
		if first == second || !same(t, first+name, second+name) {
			t.Errorf("the second snapshot has another copy of %s", name)
		}
	}
	check(t, os.Chmod(second+"/large", 0o600))
	check(t, os.WriteFile(second+"/large", []byte("x"), 0))
	if info, err := os.Stat(dir + "/large"); err != nil || info.Size() != projects.LinkSize+1 {
		t.Errorf("the user's file: %v, %v", info, err)
	}
	plantIn(t, dir, tree{"a": "3"})
	if _, third := snapshot(t, dir, revisions); same(t, second+"/large", third+"/large") {
		t.Error("the third snapshot has the copy that was written to")
	}
}

// TestLargeFileOfTheSameTime: a further snapshot shares a large file's copy by what it holds, and
// not because size and time are the same.
func TestLargeFileOfTheSameTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write string // to the project's file, or to the copy where harm is set
		harm  bool
		share bool
	}{
		"replaced by its like":             {write: "start", share: true},
		"replaced by other weights":        {write: "other"},
		"the copy was written to secretly": {write: "other", harm: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, revisions := withLarge(t)
			at := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
			check(t, os.Chtimes(dir+"/large", at, at))
			_, first := snapshot(t, dir, revisions)
			changed := dir + "/large"
			if test.harm {
				changed = first + "/large"
				tick(t)
				check(t, os.Chmod(changed, 0o644))
			} else {
				check(t, os.Remove(changed))
				sparse(t, changed, projects.LinkSize+1)
			}
			f, err := os.OpenFile(changed, os.O_WRONLY, 0)
			check(t, err)
			_, err = f.WriteString(test.write)
			check(t, errors.Join(err, f.Close(), os.Chtimes(changed, at, at)))
			if test.harm {
				check(t, os.Chmod(changed, 0o444))
			}
			plantIn(t, dir, tree{"a": "2"})
			m, second := snapshot(t, dir, revisions)
			if got := scan(t, second).Revision(); got != m.Revision() {
				t.Errorf("the snapshot of %s holds %s", m.Revision(), got)
			}
			if same(t, first+"/large", second+"/large") != test.share {
				t.Errorf("shared: %v, want %v", !test.share, test.share)
			}
		})
	}
}

// tick returns when the file system's clock has moved on: a write shows in a change time then.
func tick(t *testing.T) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	now := func() time.Time {
		check(t, os.WriteFile(probe, []byte("x"), 0o644))
		info, err := os.Stat(probe)
		check(t, err)
		return info.ModTime()
	}
	for began := now(); !now().After(began); {
	}
}

func TestTooManyLargeFilesAreLinked(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	check(t, os.Chmod(dir+"/large", 0o640))
	path, err := projects.SnapshotWith(context.Background(), scan(t, dir), revisions, os.Link, nil)
	check(t, err)
	if !same(t, dir+"/large", path+"/large") || same(t, dir+"/limit", path+"/limit") {
		t.Error("want large linked and limit copied")
	}
	if info, _ := os.Lstat(dir + "/large"); info.Mode() != 0o640 {
		t.Errorf("the user's file now has mode %o", info.Mode())
	}
	// Replaced, as most programs do, it stays in the snapshot as it was.
	sparse(t, dir+"/new", projects.LinkSize+2)
	check(t, os.Rename(dir+"/new", dir+"/large"))
	if info, err := os.Stat(path + "/large"); err != nil || info.Size() != projects.LinkSize+1 {
		t.Errorf("the snapshot's file: %v, %v", info, err)
	}
}

func TestLargeFilesElsewhereAreSymbolicLinks(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	refuse := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to,
			Err: syscall.EXDEV}
	}
	m := scan(t, dir)
	for range 2 {
		path, err := projects.SnapshotWith(context.Background(), m, revisions, refuse, nil)
		check(t, err)
		if target, err := os.Readlink(path + "/large"); err != nil || target != filepath.Join(m.Dir,
			"large") {
			t.Errorf("links to %q, %v", target, err)
		}
	}
}

// TestBrokenSnapshotGivesWay: what a power cut, or an edit in place of a linked file, broke is not
// used again.
func TestBrokenSnapshotGivesWay(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, dir, path string){
		"a file cut": func(t *testing.T, _, path string) {
			check(t, os.Chmod(path+"/a", 0o644))
			check(t, os.Truncate(path+"/a", 0))
		},
		"a file missing": func(t *testing.T, _, path string) {
			check(t, os.Chmod(path, 0o755))
			check(t, os.Remove(path+"/a"))
		},
		"linked file edited in place, then put back": func(t *testing.T, dir, _ string) {
			check(t, os.Rename(dir+"/large", dir+"/old"))
			sparse(t, dir+"/large", projects.LinkSize+1)
			old, err := os.OpenFile(dir+"/old", os.O_WRONLY, 0)
			check(t, err)
			_, err = old.WriteAt([]byte("other"), 0)
			check(t, err)
			check(t, old.Close())
			check(t, os.Remove(dir+"/old"))
			age(t, dir+"/large", time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, revisions := withLarge(t)
			m, path := snapshot(t, dir, revisions)
			harm(t, dir, path)
			snapshot(t, dir, revisions)
			if got := scan(t, path).Revision(); got != m.Revision() {
				t.Errorf("the snapshot holds %s, want %s", got, m.Revision())
			}
			only(t, revisions, m.Revision())
		})
	}
}

func TestLargeFileTouchedStaysInUse(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	_, path := snapshot(t, dir, revisions)
	before, err := os.Stat(path)
	check(t, err)
	age(t, dir+"/large", time.Hour)
	snapshot(t, dir, revisions)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("the snapshot was made again")
	}
}

func TestLargeFileReplacedByItsLikeStaysInUse(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	_, path := snapshot(t, dir, revisions)
	before, err := os.Stat(path)
	check(t, err)
	check(t, os.Rename(dir+"/large", filepath.Join(t.TempDir(), "large")))
	sparse(t, dir+"/large", projects.LinkSize+1)
	snapshot(t, dir, revisions)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("the snapshot was made again")
	}
}
