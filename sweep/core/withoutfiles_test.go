package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A sweep waits, and says for what, while no worker has its files.
func TestASweepWhoseFilesNoWorkerHas(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, nil)
	c.Add(core.Loaded{Head: core.Head{ID: "train-1", State: core.Open, Total: 3},
		Record: core.Record{Space: spaceOf(t, "i: [1, 2, 3]"),
			Recipe: task.Recipe{Revision: "53ecc225b39f586c"}}})
	one, two := gpuWorker("w1", 4, nil), gpuWorker("w2", 4, nil)
	one.Lacks, two.Lacks = []string{"53ecc225b39f586c"}, []string{"53ecc225b39f586c"}
	for second := 1.0; second <= 5; second++ {
		effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{one, two}}, at(second))
	}
	const want = "waits for a worker that has the files of revision 53ecc225b39f586c: " +
		"run-tasks follow and infrainit -f bring them to w1, w2"
	if got := c.Waits()["train-1"]; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	two.Lacks = nil
	for second := 6.0; second <= 7; second++ {
		effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{one, two}}, at(second))
	}
	if got := c.Waits(); len(got) > 0 {
		t.Errorf("w2 has the files, and it says %q", got)
	}
}
