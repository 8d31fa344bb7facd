package main_test

import (
	"testing"
)

// A sweep with one task for each worker runs once on every one.
func TestEachWorker(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.three(s)
	submission := c.submission("each", "true", 1)
	submission.Record.EachWorker = true
	id := c.submit(submission)
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
	began := map[string]int{}
	for _, s := range c.seen.Starts {
		began[s.Worker]++
	}
	if len(c.seen.Starts) != 3 || began["w1"] != 1 || began["w2"] != 1 || began["w3"] != 1 {
		t.Errorf("it began %v", began)
	}
}

// TestMemory shows what the processes of a cluster need after a thousand tasks. It asserts nothing
// about that.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.three(s)
	id := c.sweep("true", "true", int64(most(300, 3000)))
	c.ended(sweepTime(), id)
	c.succeeded(id)
	c.verify()
	for name, d := range c.workers {
		t.Logf("%s: %d kB in the executor, %d kB in the guard", name, resident(d.executor()),
			resident(d.guard()))
	}
	t.Logf("master: %d kB", resident(c.master.guard()))
}
