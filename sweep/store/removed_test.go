package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/store"
)

// Nothing is confirmed that goes into a database which nobody finds any more, and who watches is
// told.
func TestADatabaseThatWasRemoved(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(folder string) error{
		"the file": func(folder string) error {
			return os.Remove(filepath.Join(folder, store.File))
		},
		"the folder": os.RemoveAll,
		"replaced": func(folder string) error {
			path := filepath.Join(folder, store.File)
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "store")
			s, err := store.Open(context.Background(), folder, "test")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 9})
			if err := errors.Join(err, s.Check(), remove(folder)); err != nil {
				t.Fatal(err)
			}
			_, added := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 9})
			for what, err := range map[string]error{
				"add": added, "commit": s.Commit(context.Background(), group(sw, 0)),
				"check": s.Check(),
				"watch": s.Watch(t.Context(), slog.New(slog.DiscardHandler)),
			} {
				if _, ok := errors.AsType[*store.Removed](err); !ok {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// Why a lock cannot be made again is logged once, however often it is tried.
func TestALockThatCannotBeMadeAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lock := filepath.Join(folder, "lock")
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ctx, stop := context.WithTimeout(context.Background(), 9*time.Second) // several tries
	defer stop()
	if err := s.Watch(ctx, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "cannot be made again"); n != 1 {
		t.Errorf("%d times: %s", n, &log)
	}
}

// A lock that was removed lets nobody else in, and is made again.
func TestALockThatWasRemoved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "first")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lock := filepath.Join(folder, "lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		_, err := store.Open(context.Background(), folder, "second")
		if _, ok := errors.AsType[*store.InUse](err); !ok {
			t.Errorf("a second one: %v", err)
		}
	}
	refused()
	var log bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	watched := make(chan error, 1)
	go func() { watched <- s.Watch(ctx, slog.New(slog.NewTextHandler(&log, nil))) }()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if text, _ := os.ReadFile(lock); strings.HasPrefix(string(text), "first (pid ") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the lock is not made again")
		}
	}
	stop()
	if err := <-watched; err != nil ||
		!strings.Contains(log.String(), "the store's lock was removed; it was made again") {
		t.Errorf("%v: %s", err, &log)
	}
	refused()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := store.Open(context.Background(), folder, "second")
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
