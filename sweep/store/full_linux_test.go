package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mlframework/sweep/store"
)

// TestFull fills the store: the group that does not fit is refused as a whole, and the store goes
// on when there is room.
func TestFull(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	testFull(t, s, sw, func() error { return s.Limit(20) }, func() error { return s.Limit(0) })
}

// TestFullDisk does the same on a real file system that is full.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := mount(t, "size=2m")
	folder := filepath.Join(disk, "store")
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	testFull(t, s, sw, func() error {
		return os.WriteFile(ballast, make([]byte, 1<<20), 0o600)
	}, func() error { return os.Remove(ballast) })
}

func testFull(t *testing.T, s *store.Store, sw store.Sweep, fill, free func() error) {
	t.Helper()
	var n int64
	next := func() error {
		err := s.Commit(context.Background(), group(sw, n))
		if err == nil {
			n++
		}
		return err
	}
	for range 5 {
		if err := next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := fill(); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil && n < 10_000 {
		err = next()
	}
	if !errors.Is(err, syscall.ENOSPC) ||
		!strings.HasPrefix(err.Error(), "the disk of the store is full") ||
		strings.Contains(err.Error(), "\n") {
		t.Fatalf("after %d groups: %v", n, err)
	}
	for range 3 {
		if err := next(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("still full: %v", err)
		}
	}
	if have := groups(t, &s.Reader, sw); have != n {
		t.Errorf("%d groups were confirmed, %d are there", n, have)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := next(); err != nil {
			t.Fatal(err)
		}
	}
	if have := groups(t, &s.Reader, sw); have != n {
		t.Errorf("%d groups were confirmed, %d are there", n, have)
	}
}

// TestReadOnlyFolder reads a store that was closed on a file system that nothing can be written to.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	disk := mount(t, "size=4m")
	s, err := store.Open(context.Background(), disk, "test")
	if err != nil {
		t.Fatal(err)
	}
	sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 9})
	if err == nil {
		err = errors.Join(s.Commit(context.Background(), group(sw, 0)), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY,
		"size=4m"); err != nil {
		t.Skipf("SKIPPED: a file system cannot be made read-only here: %v", err)
	}
	if n := groups(t, reader(t, disk), sw); n != 1 {
		t.Errorf("%d groups", n)
	}
}

// mount makes a small file system in memory, which only root can.
func mount(t *testing.T, options string) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		t.Skipf("SKIPPED: a file system cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	return folder
}
