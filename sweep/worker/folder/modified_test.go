package folder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/folder"
)

// TestModifiedSnapshotIsRebuiltAndWriterFound has an attempt write through a link,
// beside another one.
func TestModifiedSnapshotIsRebuiltAndWriterFound(t *testing.T) {
	t.Parallel()
	files := map[string]string{"data/x": "as it was", "data/deep/y": "y", "train.py": "p"}
	for name, c := range map[string]struct {
		write func(dir string) error
		want  string
	}{
		"a file": {func(dir string) error {
			return os.WriteFile(dir+"/data/x", []byte("written"),
				0o644)
		},
			"data/x in the project snapshot was changed through a link during the run; to give " +
				"each task its own copy, add copy: [data/x] at the top level of tasks.yml"},
		"another of the snapshot": {func(dir string) error {
			target, err := os.Readlink(dir + "/data/x")
			return errors.Join(err, os.WriteFile(filepath.Join(target, "../../train.py"), nil,
				0o644))
		}, "train.py in the project snapshot was changed"},
		"a new file beside one": {func(dir string) error {
			target, err := os.Readlink(dir + "/data/x")
			return errors.Join(err, os.WriteFile(filepath.Dir(target)+"/cache", nil, 0o644))
		}, "something new is in PROJECT/data/: let the program write into its own folder, " +
			"$OUTPUT_DIR"},
		"nothing": {func(string) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.snapshot("r1", files)
			original, remade := tree(t, s.path("revisions/r1")), 0
			store := folder.NewStore(folder.Options{Home: s.path("outputs/.prepared-w1"),
				Revision: func(r string) (string, error) { return s.path("revisions/" + r), nil },
				Rebuild: func(context.Context, string) error {
					remade++
					must(t, exec.Command("sh", "-c",
						"chmod -R u+w "+s.path("revisions/r1")+" && rm -r "+s.path(
							"revisions/r1")).Run())
					s.snapshot("r1", files)
					return nil
				}})
			if os.Getuid() != 0 { // whom modes stop
				must(t, exec.Command("chmod", "-R", "u+w", s.path("revisions/r1")).Run())
			}
			p, err := store.Project("r1", folder.Rules{Link: []string{"data"}})
			must(t, err)
			first, beside := s.enter(p, 0), s.enter(p, 1)
			must(t, c.write(first.Dir))
			for _, checkout := range []*folder.Workspace{first, beside} {
				switch err := checkout.Leave(); {
				case c.want == "":
					must(t, err)
				case err == nil || !strings.Contains(err.Error(), c.want):
					t.Errorf("%v; want %q", err, c.want)
				}
			}
			must(t, s.enter(p, 2).Leave())
			if diff := cmp.Diff(original, tree(t, s.path("revisions/r1"))); diff != "" ||
				(remade == 1) != (c.want != "") {
				t.Errorf("remade %d times: %s", remade, diff)
			}
			must(t, store.Close())
		})
	}
}

// killed names the folder in which a process of this test enters a task's folder and is killed.
const killed = "FOLDER_TEST_KILLED"

// TestStaleCopiesAreRemoved kills a process in the middle of an attempt.
func TestStaleCopiesAreRemoved(t *testing.T) {
	t.Parallel()
	if base := os.Getenv(killed); base != "" {
		s := &stand{t: t, base: base}
		s.store = s.open()
		p := s.project("r1", folder.Rules{Link: []string{"data"}, Outputs: []string{"own"}})
		must(t, s.enter(p, 1).Leave())
		c := s.enter(p, 0)
		must(t, os.WriteFile(c.Dir+"/train.py", []byte("q"), 0o644)) // as long as before
		must(t, os.WriteFile(c.Dir+"/own/new", []byte("new"), 0o644))
		must(t, os.WriteFile(c.Dir+"/made", []byte("made"), 0o644))
		must(t, os.MkdirAll(c.Dir+"/sub/__pycache__", 0o755))
		must(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	staleCopies(t, "")
	elsewhere, err := os.MkdirTemp("/dev/shm", "folder-")
	if err != nil {
		t.Fatalf("this test needs a second file system: %v", err)
	}
	defer os.RemoveAll(elsewhere)
	staleCopies(t, elsewhere)
}

// staleCopies kills a worker. The folders of its sweep may lie on another file system.
func staleCopies(t *testing.T, elsewhere string) {
	s := newStand(t)
	if elsewhere != "" {
		must(t, os.Remove(s.path("outputs/train-1")))
		must(t, os.Symlink(elsewhere, s.path("outputs/train-1")))
	}
	s.snapshot("r1", map[string]string{"data/x": "x", "train.py": "p", "sub/ü b.py": "b",
		"sub/link": "->ü b.py", "own/": ""})
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), killed+"="+s.base)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok ||
		exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v:\n%s", err, out)
	}
	if _, err := os.Stat(s.path("outputs/train-1/0/sub/ü b.py")); err != nil {
		t.Fatal("it left no copy:", err)
	}
	records, err := filepath.Glob(s.path("outputs/.prepared-w1/*.json"))
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	// the worker was killed while it wrote another record
	must(t, errors.Join(os.MkdirAll(s.path("outputs/.prepared-w1/9/data"), 0o700),
		os.WriteFile(s.path("outputs/.prepared-w1/9.json"), []byte(`{"dir":"/`), 0o600)))
	s.store.Recover()
	want := map[string]string{"train.py": "q", "own": "/", "own/new": "new", "made": "made"}
	if diff := cmp.Diff(want, tree(t, s.path("outputs/train-1/0"))); diff != "" {
		t.Error(diff)
	}
	if left := tree(t, s.path("outputs/.prepared-w1")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	c := s.enter(s.project("r1", folder.Rules{Link: []string{"data"}, Outputs: []string{"own"}}), 0)
	want = map[string]string{"train.py": "q", "own": "/", "own/new": "new", "made": "made",
		"data": "/", "data/x": "->" + s.path("revisions/r1/data/x"),
		"sub": "/", "sub/ü b.py": "b", "sub/link": "->ü b.py"}
	if diff := cmp.Diff(want, tree(t, c.Dir)); diff != "" || !c.Resumed {
		t.Error(diff, c.Resumed)
	}
	must(t, c.Leave())
}

// BenchmarkWorkspace creates a task's folder and removes its copy.
func BenchmarkWorkspace(b *testing.B) {
	for name, files := range map[string]int{"2 files": 0, "1500 files": 1500} {
		b.Run(name, func(b *testing.B) {
			s := newStand(b)
			if base, err := os.MkdirTemp("/dev/shm", "folder-"); err == nil {
				s.base = base
				defer os.RemoveAll(base)
			}
			must(b, os.MkdirAll(s.path("outputs/train-1"), 0o755))
			s.snapshot("r1", manyFiles(files))
			s.store = s.open()
			p := s.project("r1", folder.Rules{})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c := s.enter(p, i)
				must(b, os.WriteFile(c.Dir+"/stdout.log", nil, 0o644))
				must(b, c.Leave())
			}
			must(b, errors.Join(os.RemoveAll(s.path("outputs/train-1")), s.store.Close()))
		})
	}
}

// manyFiles returns so many files of 35 kB, 12 to a folder.
func manyFiles(n int) map[string]string {
	files := map[string]string{"tasks.yml": "", "train.py": ""}
	for i := range n {
		files[fmt.Sprintf("pkg%02d/sub%d/file%04d.py", i%40, i%3,
			i)] = strings.Repeat(fmt.Sprintf("line %7d\n", i), 35000/13)
	}
	return files
}

// That a snapshot was modified is known to all that use its revision, whatever was prepared in
// between.
func TestModifiedSnapshotIsKnownAfterManyOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before bool // the other sweep's project is prepared before the modification is found
	}{{"found before", false}, {"found after", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			files := map[string]string{"data/x": "as it was", "train.py": "p"}
			s.snapshot("r1", files)
			s.snapshot("r2", files)
			rules := func(output string) folder.Rules {
				return folder.Rules{Link: []string{"data"}, Outputs: []string{output}}
			}
			p := s.project("r1", rules("s-0"))
			w := s.enter(p, 0)
			target := s.path("revisions/r1/data/x")
			must(t, os.Chmod(target, 0o644))
			must(t, os.WriteFile(target, []byte("written"), 0o644))
			for i := range 70 {
				s.project("r2", rules(fmt.Sprintf("s-%d", i+1)))
			}
			var q *folder.Project
			if c.before {
				q = s.project("r1", rules("t-1"))
			}
			if err := w.Leave(); err == nil {
				t.Fatal("that it was written to is not found")
			}
			if !c.before {
				q = s.project("r1", rules("t-1"))
			}
			_, err := q.Enter(t.Context(), s.path("outputs/train-1/1"))
			if err == nil || !strings.Contains(err.Error(), "are not what they were") {
				t.Errorf("another sweep's task starts: %v", err)
			}
		})
	}
}

// A snapshot that was evicted and that nothing uses is not kept.
func TestEvictedSnapshotsAreFreed(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"train.py": "p"})
	s.snapshot("r2", map[string]string{"train.py": "p"})
	freed := make(chan struct{})
	folder.OnFreed(s.project("r1", folder.Rules{}), func() { close(freed) })
	for i := range 70 {
		s.project("r2", folder.Rules{Outputs: []string{fmt.Sprint("out-", i)}})
	}
	runtime.GC()
	select {
	case <-freed:
	case <-time.After(30 * time.Second):
		t.Error("it is still there")
	}
	runtime.KeepAlive(s)
}
