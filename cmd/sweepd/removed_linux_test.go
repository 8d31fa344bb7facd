package main_test

import (
	"os"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
)

// What a living master needs and somebody removes: it says so. Without its store it ends, the
// socket it makes again, and no second master comes in by a lock that is not there.
func TestFilesOfALivingMasterAreRemoved(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("short", short, 4)
	c.ended(patience, id)
	remove := func(name string) {
		t.Helper()
		if err := os.RemoveAll(c.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	remove("store/lock")
	code, _, stderr := call(t, append([]string{"master", "--store", c.path("store"), "--socket",
		c.path("second")}, s.master()...)...)
	if code != cli.Machine || !strings.Contains(stderr, "the store is in use by") {
		t.Errorf("a second master: exit code %d: %s", code, stderr)
	}
	eventually(t, patience, "the lock is said to be removed", said(c.master,
		"the store's lock was removed; it was made again"))

	remove("socket")
	eventually(t, patience, "the socket is said to be removed", said(c.master,
		"the socket was removed and is created again"))
	if _, err := c.client.Health(t.Context()); err != nil {
		t.Errorf("it cannot be asked: %v", err)
	}

	remove("store/store.db")
	if code := c.master.exitCode(); code != cli.Machine {
		t.Errorf("without its store: exit code %d", code)
	}
	if said := c.master.said(); !strings.Contains(said,
		"store.db was deleted or replaced while in use; its data is lost") {
		t.Errorf("it says %s", said)
	}
}
