package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

func TestInUse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, err := store.Open(context.Background(), folder, "run-tasks train")
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(context.Background(), folder, "other")
	want := fmt.Sprintf("the store is in use by run-tasks train (pid %d, since 2", os.Getpid())
	if _, ok := errors.AsType[*store.InUse](err); !ok || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s...", err, want)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	again, err := store.Open(context.Background(), folder, "other")
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// TestReader reads beside a writer, and after it, in a folder whose name SQLite could misread.
func TestReader(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a b?mode=rw#c%41&d")
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 9})
	if err != nil {
		t.Fatal(err)
	}
	beside := reader(t, folder)
	for i := range int64(3) {
		commit(t, s, sw, core.Changes{Tasks: []core.Task{endedTask(i)}})
		if n := len(all(t, beside, sw, store.TaskQuery{})); n != int(i+1) {
			t.Errorf("%d rows of %d", n, i+1)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*store.Reader{"opened before": beside,
		"opened after": reader(t, folder)} {
		if n := len(all(t, r, sw, store.TaskQuery{})); n != 3 {
			t.Errorf("%s: %d rows", name, n)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, store.File)); err != nil {
		t.Error(err)
	}
}

func reader(t *testing.T, folder string) *store.Reader {
	t.Helper()
	r, err := store.OpenReader(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestNoStore opens what is no store of this program.
func TestNoStore(t *testing.T) {
	t.Parallel()
	garbage := []byte(strings.Repeat("not a database. ", 400))
	for name, test := range map[string]struct {
		file         []byte // nil: none
		version      int
		read, write  string // what the error says; "": none
		none, folder bool
	}{
		"no folder": {none: true},
		"no file":   {none: true, folder: true},
		"empty":     {none: true, folder: true, file: []byte{}},
		"garbage": {folder: true, file: garbage, read: "damaged or no store",
			write: "damaged or no store"},
		"newer": {folder: true, version: core.Schema + 1, read: "use the newer program",
			write: "use the newer program"},
		"older": {folder: true, version: core.Schema - 1, read: "before 0.1.0",
			write: "before 0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "store")
			if test.folder {
				prepare(t, folder, test.file, test.version)
			}
			_, err := store.OpenReader(context.Background(), folder)
			if errors.Is(err, store.ErrNone) != test.none || !says(err, test.read) && !test.none {
				t.Errorf("reading: %v", err)
			}
			s, err := store.Open(context.Background(), folder, "test")
			if !says(err, test.write) {
				t.Errorf("writing: %v", err)
			}
			if err == nil {
				_ = s.Close()
			}
		})
	}
}

func says(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}

// prepare makes a folder with a file, or with a store of a version.
func prepare(t *testing.T, folder string, file []byte, version int) {
	t.Helper()
	err := os.MkdirAll(folder, 0o700)
	switch {
	case file != nil:
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, store.File), file, 0o600))
	case version > 0:
		var s *store.Store
		if s, err = store.Open(context.Background(), folder, "test"); err == nil {
			err = errors.Join(s.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)), s.Close())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCancelled: a call that its caller gave up leaves the store as good as it was.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	gone, cancel := context.WithCancel(context.Background())
	commit(t, s, sw, core.Changes{Tasks: []core.Task{endedTask(0)}})
	cancel()
	if _, err := s.Add(gone, store.NewSweep{Record: newRecord(), Total: 1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Commit(gone,
		rowsOf(sw, core.Changes{Tasks: []core.Task{endedTask(1)}})); err != nil {
		t.Errorf("a commit ends with the caller: %v", err)
	}
	if n := len(all(t, &s.Reader, sw, store.TaskQuery{})); n != 2 {
		t.Errorf("%d rows", n)
	}
}
