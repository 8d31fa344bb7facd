package main_test

import (
	"os"
	"slices"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A worker whose host lacks the files of a revision, as it was off when they were brought, gets no
// tasks of it until they are there. Other tasks it gets, and nothing is charged.
func TestFilesOfARevisionAreMissing(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	start := func(name, revisions string) {
		c.workers[name] = newDaemon(t, c.dir, name, append([]string{"worker", "--name", name,
			"--host", "host-" + name, "--slots", "1", "--outputs", c.path(name), "--revisions",
			c.path(revisions)}, s.worker(name)...)...)
		c.workers[name].start()
		c.ready(name)
	}
	start("w1", "other-revisions")
	id := c.sweep("edited", held, 4)
	eventually(t, patience, "the worker says what it lacks", func() bool {
		return slices.Equal(c.shown("w1").Lacks, []string{revision})
	})
	if w := c.shown("w1"); w.State != core.WorkerReady {
		t.Errorf("the worker is %s: %v", w.State, w.Reason)
	}
	c.stands(id, core.Counts{task.Pending: 4})
	start("w2", "revisions")
	eventually(t, patience, "a task runs on the other worker", func() bool {
		return len(c.shown("w2").Running) == 1
	})
	if err := os.MkdirAll(c.path("other-revisions", revision), 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "a task runs where the files have come", func() bool {
		w := c.shown("w1")
		return len(w.Lacks) == 0 && len(w.Running) == 1
	})
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.uncharged(id)
	c.verify()
}
