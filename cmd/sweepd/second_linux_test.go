package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep"
	"mlframework/sweep/task"
)

// A second worker with the name or a folder of one that lives is refused before it touches anything: what the first runs
// succeeds, at its first attempt.
func TestSecondWorkerRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	state := c.path("state")
	w1 := newDaemon(t, c.dir, "w1", append([]string{"worker", "--name", "w1", "--host", "gpu1", "--slots", "2", "--outputs", c.path("w1"),
		"--state", state, "--revisions", c.path("revisions")}, s.flags()...)...)
	w1.start()
	c.ready("w1")
	id := c.sweep("held", held, 2)
	c.stands(id, sweep.Counts{task.Running: 2})
	for name, second := range map[string]struct{ name, outputs, state, says string }{
		"the same call":    {"w1", c.path("w1"), state, "already runs on this machine"},
		"the same name":    {"w1", c.path("other"), c.path("other", "state"), "already runs on this machine"},
		"the same outputs": {"w2", c.path("w1"), c.path("other", "state"), c.path("w1") + " is in use by worker w1"},
		"the same state":   {"w2", c.path("other"), state, state + " is in use by worker w1"},
	} {
		code, _, stderr := call(t, append([]string{"worker", "--name", second.name, "--outputs", second.outputs, "--state", second.state,
			"--revisions", c.path("revisions")}, s.flags()...)...)
		if pid := fmt.Sprintf("(pid %d", w1.guard()); code != 5 || !strings.Contains(stderr, second.says) || !strings.Contains(stderr, pid) {
			t.Errorf("%s: exit code %d, want 5; it says %q, want %q and %q", name, code, stderr, second.says, pid)
		}
	}
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
	w1.signal(syscall.SIGTERM)
	if code := w1.exitCode(); code != 0 {
		t.Errorf("the first ended with %d", code)
	}
	w1.start() // what it held is free again
	c.ready("w1")
}
