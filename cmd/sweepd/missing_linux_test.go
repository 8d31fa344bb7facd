package main_test

import (
	"os"
	"strings"
	"testing"

	"mlframework/sweep"
	"mlframework/sweep/task"
)

// A store whose log was cut has lost a sweep that was confirmed: what its worker still says of it is told to people.
func TestWhatTheStoreLostIsSaid(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.stands(id, sweep.Counts{task.Running: 2})
	c.master.kill()
	if err := os.Truncate(c.path("store", "store.db-wal"), 0); err != nil {
		t.Fatal(err)
	}
	c.master.start()
	want := "worker w1 reports 2 tasks of " + id + ", which this store does not know"
	said := ""
	eventually(t, 2*patience, "health says what is missing", func() bool {
		h, err := c.client.Health(t.Context())
		if err == nil && len(h.Warnings) == 1 {
			said = h.Warnings[0].Text
		}
		return strings.HasPrefix(said, want)
	})
}
