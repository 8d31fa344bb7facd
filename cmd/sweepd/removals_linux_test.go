package main_test

import (
	"os"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// outputs reports whether a worker has outputs of a sweep.
func (c *cluster) outputs(worker, id string) bool {
	_, err := os.Lstat(c.path(worker, id))
	return err == nil
}

// A sweep is removed on all hosts. A host that is away is cleaned when it returns, though the master
// was killed in between; what others have is removed at once.
func TestRemovalOnAHostThatIsAway(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	c.worker("w2", s)
	id := c.sweep("held", held, 4)
	c.stands(id, core.Counts{task.Running: 4})
	c.letGo()
	c.ended(patience, id)
	kept := c.sweep("short", short, 4)
	c.ended(patience, kept)
	if !c.outputs("w1", id) || !c.outputs("w2", id) {
		t.Fatal("one of them ran nothing")
	}
	w1.kill()
	if err := c.client.Remove(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	c.master.kill()
	if !c.outputs("w1", id) {
		t.Error("w1 is away, and its outputs are gone")
	}
	c.master.start()
	left := func() (workers string) {
		all, err := c.client.Removals(t.Context())
		if err != nil {
			return err.Error()
		}
		for _, r := range all {
			workers += r.Worker + " "
		}
		return workers
	}
	eventually(t, patience, "w2 removes its outputs", func() bool {
		return left() == "w1 " && !c.outputs("w2", id)
	})
	w1.start()
	eventually(t, patience+lease, "w1 removes its outputs", func() bool {
		return left() == "" && !c.outputs("w1", id)
	})
	if !c.outputs("w1", kept) && !c.outputs("w2", kept) {
		t.Error("the outputs of the other sweep are gone")
	}
	if all, err := c.client.Sweeps(t.Context(), "", 0); err != nil || len(all) != 1 ||
		all[0].ID != kept {
		t.Errorf("%+v, %v", all, err)
	}
}
