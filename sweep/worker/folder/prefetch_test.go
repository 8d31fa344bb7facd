package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/folder"
)

// TestNextCopyIsPrefetchedWhileAttemptRuns holds the folder of a second task to files that were
// made before it began, though the first has changed its own.
func TestNextCopyIsPrefetchedWhileAttemptRuns(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"train.py": "p", "sub/x": "x"})
	p := s.project("r1", folder.Rules{})
	c := s.enter(p, 0)
	for task := 1; task < 4; task++ {
		p.Prefetch()
		p.Prefetch() // one is enough
		file := s.madeAhead("sub/x")
		must(t, os.WriteFile(c.Dir+"/sub/x", []byte("mine"), 0o644))
		must(t, os.WriteFile(c.Dir+"/train.py", []byte("mine"), 0o644))
		must(t, c.Leave())
		c = s.enter(p, task)
		if got := inode(t, c.Dir+"/sub/x"); got != file {
			t.Errorf("task %d has another file than the one made ahead", task)
		}
		if text, err := os.ReadFile(c.Dir + "/train.py"); err != nil || string(text) != "p" {
			t.Errorf("task %d has %q, %v", task, text, err)
		}
		if copies, err := filepath.Glob(s.path("outputs/.prepared-w1/*.task")); len(copies) > 2 {
			t.Errorf("%d copies for one slot, %v", len(copies), err)
		}
	}
	must(t, errors.Join(c.Leave(), s.store.Close()))
}

// TestCloseCancelsPrefetch closes a store that has just begun to make a copy.
func TestCloseCancelsPrefetch(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", manyFiles(300))
	p := s.project("r1", folder.Rules{})
	c := s.enter(p, 0)
	p.Prefetch()
	must(t, errors.Join(c.Leave(), s.store.Close()))
	p.Prefetch()
	if left, err := filepath.Glob(s.path("outputs/.prepared-w1*")); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

// madeAhead waits for the one copy that is kept, and returns the inode of one of its files.
func (s *stand) madeAhead(name string) uint64 {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(
		time.Millisecond) {
		if s.store.Idle() == 1 {
			copies, err := filepath.Glob(s.path("outputs/.prepared-w1/*/" + name))
			must(s.t, err)
			if len(copies) == 1 {
				return inode(s.t, copies[0])
			}
		}
	}
	s.t.Fatal("no copy was made ahead")
	return 0
}

func inode(t testing.TB, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}
