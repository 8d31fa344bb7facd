package projects_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"mlframework/projects"
)

// snapshot makes the snapshot of dir in revisions.
func snapshot(t testing.TB, dir, revisions string) (*projects.Manifest, string) {
	t.Helper()
	m := scan(t, dir)
	path, err := projects.Snapshot(context.Background(), m, revisions)
	check(t, err)
	return m, path
}

func TestSnapshotIsWhatWasScanned(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, filepath.Join(t.TempDir(), "a", "b"))
	check(t, os.Chmod(dir+"/train.py", 0o700))
	check(t, os.Symlink(dir+"/data/x", dir+"/absolute"))
	for _, name := range []string{"train.py", "data/x", "data"} {
		age(t, filepath.Join(dir, name), 1234567*time.Second)
	}
	m, path := snapshot(t, dir, revisions)
	if want := filepath.Join(revisions, m.Revision()); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	check(t, os.RemoveAll(dir))
	got := scan(t, path)
	if got.Revision() != m.Revision() {
		t.Errorf("the snapshot's own revision is %s", got.Revision())
	}
	ignore := cmpopts.IgnoreFields(projects.Entry{}, "Mode")
	times := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ModTime" },
		cmp.Comparer(func(a, b time.Time) bool {
			return a.Equal(b) || time.Since(a) < time.Hour // a link's time is not kept
		}))
	if diff := cmp.Diff(m.Entries, got.Entries, ignore, times); diff != "" {
		t.Error(diff)
	}
	for _, e := range got.Entries {
		want := map[projects.Kind]os.FileMode{projects.Dir: 0o555, projects.File: 0o444,
			projects.Symlink: e.Mode}[e.Kind]
		if e.Path == "train.py" {
			want = 0o555
		}
		if e.Mode != want {
			t.Errorf("%q has mode %o, want %o", e.Path, e.Mode, want)
		}
	}
}

func TestSnapshotTwiceIsOnce(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, t.TempDir())
	_, first := snapshot(t, dir, revisions)
	before, err := os.Stat(first)
	check(t, err)
	_, second := snapshot(t, plant(t, sample), revisions)
	after, err := os.Stat(second)
	check(t, err)
	if first != second || !os.SameFile(before, after) {
		t.Error("the snapshot was made again")
	}
	plantIn(t, dir, tree{"train.py": "print(2)"})
	if _, third := snapshot(t, dir, revisions); third == first {
		t.Error("an edit made no new snapshot")
	}
	if data, _ := os.ReadFile(first + "/train.py"); string(data) != "print()" {
		t.Errorf("an edit shows in the snapshot: %q", data)
	}
}

// TestSnapshotOfFarTimes: nanoseconds since 1970 do not say when these files were written.
func TestSnapshotOfFarTimes(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1500, 2261, 2262, 2400} {
		dir, revisions := plant(t, tree{"a": "1"}), makeRemovable(t, t.TempDir())
		sparse(t, dir+"/large", projects.LinkSize+1)
		at := unix.Timespec{Sec: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC).Unix()}
		for _, name := range []string{"/a", "/large"} {
			check(t, unix.UtimesNano(dir+name, []unix.Timespec{at, at}))
		}
		_, first := snapshot(t, dir, revisions)
		plantIn(t, dir, tree{"a": "2"})
		m, second := snapshot(t, dir, revisions)
		if !same(t, first+"/large", second+"/large") {
			t.Errorf("%d: the second snapshot has another copy", year)
		}
		if got, err := os.Stat(second + "/large"); err != nil ||
			!projects.ModTime(got).Equal(m.Entries[1].ModTime) {
			t.Errorf("%d: %v, %v, want %v", year, got.ModTime(), err, m.Entries[1].ModTime)
		}
	}
}

func TestSnapshotOfNothing(t *testing.T) {
	t.Parallel()
	revisions := makeRemovable(t, t.TempDir())
	for range 2 {
		_, path := snapshot(t, t.TempDir(), revisions)
		if left, err := os.ReadDir(path); err != nil || len(left) != 0 {
			t.Errorf("holds %v, %v", left, err)
		}
	}
}

func TestSnapshotsAtOnce(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, t.TempDir())
	sparse(t, dir+"/large", projects.LinkSize+1)
	m := scan(t, dir)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := projects.Snapshot(context.Background(), m, revisions); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	only(t, revisions, m.Revision())
	if got := scan(t, filepath.Join(revisions, m.Revision())).Revision(); got != m.Revision() {
		t.Errorf("revision %s, want %s", got, m.Revision())
	}
}

// only wants exactly these names in a folder of snapshots, and at most the hashes of large files.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	items, err := os.ReadDir(dir)
	check(t, err)
	var got []string
	for _, item := range items {
		if item.Name() != ".large" {
			got = append(got, item.Name())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in %s: %s", filepath.Base(dir), diff)
	}
}

func TestSnapshotFindsChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, path string){
		"edited": func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte("longer"),
				0o644))
		},
		"edited secretly": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			check(t, err)
			check(t, os.WriteFile(path, []byte("2"), 0o644))
			check(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"removed": func(t *testing.T, path string) { check(t, os.Remove(path)) },
		"a folder": func(t *testing.T, path string) {
			check(t, errors.Join(os.Remove(path),
				os.Mkdir(path, 0o755)))
		},
		"a link": func(t *testing.T, path string) {
			check(t, errors.Join(os.Remove(path),
				os.Symlink("b", path)))
		},
		"a pipe": func(t *testing.T, path string) {
			check(t, errors.Join(os.Remove(path),
				syscall.Mkfifo(path, 0o644)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, revisions := plant(t, tree{"sub/a": "1", "sub/b": "1", "c/d/e": ""}),
				makeRemovable(t, t.TempDir())
			m := scan(t, dir)
			change(t, dir+"/sub/a")
			_, err := projects.Snapshot(context.Background(), m, revisions)
			var changed *projects.ChangedError
			if !errors.As(err, &changed) || changed.Path != "sub/a" {
				t.Errorf("Snapshot: %v, want that sub/a changed", err)
			}
			only(t, revisions)
		})
	}
}

func TestTakeTriesAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edits int
		works bool
	}{"once": {1, true}, "twice": {2, true}, "always": {100, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, revisions := plant(t, tree{"a": "1"}), makeRemovable(t, t.TempDir())
			edits := 0
			m, path, err := projects.Take(context.Background(), dir, revisions,
				projects.Options{Hashing: func(string, int64) {
					if edits++; edits <= test.edits {
						plantIn(t, dir, tree{"a": strings.Repeat("x", edits+1)})
					}
				}})
			var changed *projects.ChangedError
			if !test.works {
				if !errors.As(err, &changed) || edits != 3 {
					t.Errorf("after %d tries: %v, want a ChangedError after 3", edits, err)
				}
				return
			}
			check(t, err)
			if scan(t, path).Revision() != m.Revision() {
				t.Error("the snapshot is not what the manifest says")
			}
		})
	}
}

func TestSnapshotDiskFull(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, t.TempDir())
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	_, err := projects.SnapshotWith(context.Background(), scan(t, dir), revisions, os.Link,
		func() error { return full })
	var space *projects.SpaceError
	if !errors.As(err, &space) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Snapshot: %v, want a SpaceError", err)
	}
	want := fmt.Sprintf("snapshot in %s: no space left on device: it takes 0.0 MB; free some "+
		"space there and run it again", revisions)
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	only(t, revisions)
}

func TestSnapshotStops(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	_, err := projects.SnapshotWith(ctx, scan(t, dir), revisions, os.Link,
		func() error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot: %v, want context.Canceled", err)
	}
	only(t, revisions)
}

func TestSnapshotsInsideTheProject(t *testing.T) {
	t.Parallel()
	dir := makeRemovable(t, plant(t, tree{"a": "", "keep/": ""}))
	for _, revisions := range []string{dir, dir + "/keep"} {
		if _, err := projects.Snapshot(context.Background(), scan(t, dir), revisions); err == nil ||
			!strings.Contains(err.Error(), "is one of its files") {
			t.Errorf("Snapshot: %v", err)
		}
	}
	_, path := snapshot(t, dir, dir+"/.mlframework/revisions")
	only(t, path, "a", "keep")
}
