package main_test

import (
	"archive/zip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killAtThird is a module that kills a first attempt when it has written its third checkpoint, and
// before that replaces the second.
const killAtThird = `import os, signal

replace, times = os.replace, [0]


def count(source, target):
    times[0] += 1
    if times[0] == 3 and os.environ.get("ATTEMPT") == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)


os.replace = count
`

// TestSamplesGoOn kills a task in the middle of a checkpoint. Its second attempt goes on from the
// one before, and the result is that of a task that nobody disturbs.
func TestSamplesGoOn(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			one := []string{"--local", "-d", s.project(t), "run_training", "--limit", "1"}
			f, env := sampleFolder(t, nil)
			runTasks(f, env, 0, one...)
			undisturbed, first := sampleRows(f, env, 1)[0], s.result(t, f)

			f, env = sampleFolder(t, map[string]string{"sitecustomize.py": killAtThird})
			runTasks(f, env, 1, one...)
			if r := sampleRows(f, env, 1)[0]; r.State != "failed" || !strings.Contains(r.Reason,
				"SIGKILL") {
				t.Fatalf("the first attempt %s: %s", r.State, r.Reason)
			}
			runTasks(f, env, 0, "retry")
			r := sampleRows(f, env, 1)[0]
			if d := cmp.Diff(undisturbed.Metrics, r.Metrics); d != "" || r.Attempts != 2 {
				t.Errorf("after %d attempts (-undisturbed +resumed):\n%s", r.Attempts, d)
			}
			if d := cmp.Diff(first, s.result(t, f)); d != "" {
				t.Errorf("what it saved (-undisturbed +resumed):\n%s", d)
			}
			text, _ := os.ReadFile(f.path("outputs/run_training-1/0/stdout.log"))
			if !strings.Contains(string(text), s.resumed) {
				t.Errorf("the second attempt printed:\n%s", text)
			}
		})
	}
}

// result is what the first task saved: its accuracies, and of arrays what tells whether they are
// the same.
func (s sample) result(t *testing.T, f folder) map[string]any {
	t.Helper()
	dir := f.path("outputs/run_training-1/0")
	result := map[string]any{"accuracies": s.saved(t, dir)}
	if s.name != "mnist" {
		return result
	}
	arrays, err := zip.OpenReader(filepath.Join(dir, "result", s.checkpoint))
	if err != nil {
		t.Fatal(err)
	}
	defer arrays.Close()
	for _, a := range arrays.File {
		if a.Name != "log.npy" { // it has times
			result[a.Name] = a.CRC32
		}
	}
	if len(result) < 10 {
		t.Errorf("the checkpoint has only %v", slices.Sorted(maps.Keys(result)))
	}
	return result
}
