package store_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mlframework/sweep/store"
)

// TestCutLog cuts the log at any byte, or turns a bit: the store opens with a prefix of its groups,
// and goes on.
func TestCutLog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 1 << 30})
	for n := int64(0); n < 20 && err == nil; n++ {
		err = s.Commit(context.Background(), group(sw, n))
	}
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(folder, store.File+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	most := int64(0)
	for i := range 60 {
		damaged := append([]byte(nil), log[:random.IntN(len(log)+1)]...)
		if i%3 == 0 {
			damaged = append([]byte(nil), log...)
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		most = max(most, reopened(t, folder, damaged))
	}
	if most < 10 {
		t.Errorf("at most %d groups of 20 were left", most)
	}
}

// reopened opens a copy of a store with another log and returns how many groups it has.
func reopened(t *testing.T, from string, log []byte) int64 {
	t.Helper()
	folder := t.TempDir()
	copied(t, filepath.Join(from, store.File), filepath.Join(folder, store.File))
	if err := os.WriteFile(filepath.Join(folder, store.File+"-wal"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatalf("a log of %d bytes: %v", len(log), err)
	}
	defer s.Close()
	sw, err := s.Sweep(context.Background(), "train-1")
	if _, none := errors.AsType[*store.UnknownSweep](err); none {
		sw, err = s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 1 << 30})
	}
	if err != nil {
		t.Fatal(err)
	}
	n := groups(t, &s.Reader, sw)
	if err := s.Commit(context.Background(), group(sw, n)); err != nil {
		t.Fatal(err)
	}
	return groups(t, &s.Reader, sw) - 1
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}
