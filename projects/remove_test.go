package projects_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mlframework/projects"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	dir, revisions := withLarge(t)
	check(t, os.Chmod(dir+"/large", 0o640))
	m, _ := snapshot(t, dir, revisions)
	for range 2 { // the second finds nothing
		check(t, projects.Remove(revisions, m.Revision()))
		only(t, revisions)
	}
	if info, err := os.Stat(dir + "/large"); err != nil || info.Mode() != 0o640 {
		t.Errorf("the user's file: %v, %v", info, err)
	}
	for _, name := range []string{"", ".", "..", "../x", "0123456789abcde", "0123456789abcdeF"} {
		if projects.Remove(revisions, name) == nil {
			t.Errorf("Remove took %q for a revision", name)
		}
	}
}

// TestLeftovers: what a killed process left goes when it is old and nobody holds it.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, sample), makeRemovable(t, t.TempDir())
	for _, name := range []string{".tmp-dead", ".tmp-new", ".tmp-held", "unknown"} {
		plantIn(t, filepath.Join(revisions, name), tree{"sub/x": ""})
		check(t, os.Chmod(filepath.Join(revisions, name, "sub"), 0o555))
		if name != ".tmp-new" {
			age(t, filepath.Join(revisions, name), 2*time.Minute)
		}
	}
	held, err := os.Open(filepath.Join(revisions, ".tmp-held"))
	check(t, err)
	defer held.Close()
	check(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	m, _ := snapshot(t, dir, revisions)
	only(t, revisions, ".tmp-held", ".tmp-new", m.Revision(), "unknown")
}

// TestRunningSnapshotIsNoLeftover: another process must not remove the folder that this one fills,
// however old it looks.
func TestRunningSnapshotIsNoLeftover(t *testing.T) {
	t.Parallel()
	dir, revisions := plant(t, tree{"a": "1"}), makeRemovable(t, t.TempDir())
	other := plant(t, tree{"b": "1"})
	_, err := projects.SnapshotWith(context.Background(), scan(t, dir), revisions, os.Link,
		func() error {
			folders, err := filepath.Glob(revisions + "/.tmp-*")
			check(t, err)
			for _, folder := range folders {
				age(t, folder, 48*time.Hour)
			}
			snapshot(t, other, revisions)
			return nil
		})
	check(t, err)
}
