package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"mlframework/sweep/task"
)

// removes asks the worker to remove outputs of a sweep, and returns why it did not.
func (s *site) removes(sweep string, tasks ...[2]int64) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.tell(task.Control{Kind: task.RemoveControl, Sweep: sweep,
		Remove: &task.Remove{ID: "7", Tasks: tasks}})
	p, ok := <-s.queue.Pieces(ctx)
	if !ok || p.ID != "7" {
		s.t.Fatalf("no answer, but %+v", p)
	}
	return p.Error
}

func TestRemovingOutputs(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch("mkdir shut; echo x > shut/file; chmod 0 shut", 0, 1))
	s.ended(0, 1)
	s.ended(1, 1)
	dir := filepath.Join(s.outputs, "train-1")
	copies, err := os.Open(dir)
	s.must(err)
	defer copies.Close()
	s.must(syscall.Flock(int(copies.Fd()), syscall.LOCK_SH))
	why := s.removes("train-1")
	for why == "a task is still being stopped" { // its slot is free in a moment
		why = s.removes("train-1")
	}
	if why != "somebody copies the outputs" {
		t.Errorf("while somebody copies: %q", why)
	}
	if _, err := os.Stat(filepath.Join(dir, "0", "stdout.log")); err != nil {
		t.Error(err)
	}
	s.must(copies.Close())
	for _, what := range []string{"what is there", "what is gone"} {
		if why := s.removes("train-1"); why != "" {
			t.Errorf("%s: %s", what, why)
		}
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Of some tasks, the folders of earlier attempts beside theirs are removed, too.
func TestRemovingOutputsOfTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, name := range []string{"0", "1", "1.attempt-1", "1.attempt-1.2", "10", "2", "notes"} {
		s.must(os.MkdirAll(filepath.Join(s.outputs, "train-1", name, "result"), 0o700))
	}
	if why := s.removes("train-1", [2]int64{1, 2}, [2]int64{10, 12}); why != "" {
		t.Error(why)
	}
	entries, err := os.ReadDir(filepath.Join(s.outputs, "train-1"))
	s.must(err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"0", "2", "notes"}; !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}

// Nothing is removed while a task of the sweep runs.
func TestRemovingWhatRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch("until test -e ../../../go; do sleep 0.01; done", 0))
	s.seen(task.StartedEvent, 0, 1)
	if why := s.removes("train-1"); why != "a task is still being stopped" {
		t.Errorf("it says %q", why)
	}
	s.must(os.WriteFile(filepath.Join(s.base, "go"), nil, 0o600))
	s.ended(0, 1)
}

// A name that leads out of the outputs is refused, and a link is removed, not what it leads to.
func TestRemovingOnlyOutputs(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	mine := filepath.Join(s.base, "mine")
	s.must(os.MkdirAll(filepath.Join(mine, "0"), 0o700))
	s.must(os.MkdirAll(s.outputs, 0o700))
	s.must(os.Symlink(mine, filepath.Join(s.outputs, "train-1")))
	for _, name := range []string{"../mine", "..", ".", ""} {
		if why := s.removes(name); why == "" {
			t.Errorf("%q is removed", name)
		}
	}
	if why := s.removes("train-1"); why != "" {
		t.Error(why)
	}
	if _, err := os.Lstat(filepath.Join(s.outputs, "train-1")); !os.IsNotExist(err) {
		t.Errorf("the link: %v", err)
	}
	if _, err := os.Stat(filepath.Join(mine, "0")); err != nil {
		t.Error(err)
	}
}
