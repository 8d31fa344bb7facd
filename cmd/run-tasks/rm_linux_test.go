package main_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/store"
)

// uncleared reports what the store of a folder still has of removed sweeps: outputs that are to be
// removed, and sweeps that have rows.
func (f folder) uncleared() (outputs, rows int) {
	f.t.Helper()
	r, err := store.OpenReader(context.Background(), f.path(".mlframework"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Close()
	removals, err := r.Removals(context.Background())
	seqs, also := r.Uncleared(context.Background())
	if err != nil || also != nil {
		f.t.Fatal(err, also)
	}
	return len(removals), len(seqs)
}

// A removal whose runner is killed is finished by the next one, whatever step it was at. The sweep
// is not listed any more from the first step on.
func TestRemovalOfAKilledRunner(t *testing.T) {
	t.Parallel()
	left := func(f folder) int {
		entries, _ := os.ReadDir(f.path("outputs/work-1")) // it may be gone
		return len(entries)
	}
	for name, reached := range map[string]func(folder) bool{
		"it is kept that the sweep is removed": func(f folder) bool {
			shown, _, _ := f.run("ls", "--json")
			return !strings.Contains(shown, "work-1")
		},
		"some files are gone": func(f folder) bool { return left(f) < 4 },
		"all files are gone":  func(f folder) bool { return left(f) == 0 },
		"it is kept that they are": func(f folder) bool {
			outputs, _ := f.uncleared()
			return left(f) == 0 && outputs == 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 30s", "seq 4000 | xargs touch\n")
			if _, stderr, code := f.run("--local", "-d", "p", "--quiet", "work"); code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			pages := f.start(nil, "monitor", "--no-open") // keeps a runner, and starts another
			f.runner()
			remove := f.start(nil, "rm", "work-1", "--yes")
			eventually(t, deadline, name, func() bool { return reached(f) })
			f.killRunner()
			remove.wait()
			if shown, _, _ := f.run("ls", "--json"); strings.Contains(shown, "work-1") {
				t.Errorf("it is listed: %s", shown)
			}
			eventually(t, deadline, "all of it is gone", func() bool {
				outputs, rows := f.uncleared()
				return left(f) == 0 && outputs+rows == 0
			})
			if _, err := os.Lstat(f.path("outputs/work-1")); err == nil {
				t.Error("its folder is still there")
			}
			if stdout, _, code := f.run("--local", "-d", "p", "work"); code != 0 ||
				!strings.Contains(stdout, "work-2: 4 tasks: 4 succeeded") {
				t.Errorf("exit code %d: %s", code, stdout)
			}
			f.signal(pages, syscall.SIGINT)
			pages.wait()
		})
	}
}
