package main_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A worker that is asked to start again ends with a code of its own, and takes tasks when it is
// back: nothing is lost, nothing is charged, and it is not drained.
func TestWorkerStartsAgain(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]bool{"when it is done": false, "now": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c := newCluster(t, s)
			w1 := c.worker("w1", s)
			id := c.sweep("held", held, 6)
			c.stands(id, core.Counts{task.Pending: 2, task.Claimed: 2, task.Running: 2})
			c.fault("w1", "started again", func() {
				w, err := c.client.Restart(t.Context(), "w1", now)
				if err != nil || w.State != core.WorkerRestarting {
					t.Fatalf("%+v, %v", w, err)
				}
				if !now {
					c.stands(id, core.Counts{task.Pending: 4, task.Running: 2})
					c.letGo()
				}
				if code := w1.exitCode(); code != 6 {
					t.Errorf("exit code %d", code)
				}
			})
			if left := attempts(c.dir); len(left) > 0 {
				t.Errorf("it left %+v", left)
			}
			if now {
				c.stands(id, core.Counts{task.Pending: 6})
				c.letGo()
			}
			w1.start()
			c.ended(patience, id)
			c.ready("w1")
			c.succeeded(id)
			c.uncharged(id)
			c.verify()
		})
	}
}

// A worker whose folder of outputs is removed on the host, as below a mount of its container, ends
// to be restarted with a new one: its tasks are returned, uncharged.
func TestFolderOfOutputsIsRemoved(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	folder, mounted := c.path("host-outputs"), c.path("w1")
	mount := func() {
		for _, dir := range []string{folder, mounted} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Mount(folder, mounted, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("NOT TESTED: it needs the right to mount: %v", err)
		}
	}
	mount()
	t.Cleanup(func() { _ = unix.Unmount(mounted, unix.MNT_DETACH) })
	w1 := c.worker("w1", s)
	id := c.sweep("held", held, 6)
	c.stands(id, core.Counts{task.Pending: 2, task.Claimed: 2, task.Running: 2})
	c.fault("w1", "started again", func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if code := w1.exitCode(); code != 6 {
			t.Errorf("exit code %d", code)
		}
	})
	if !strings.Contains(w1.said(), "the folder of outputs was removed: ") {
		t.Errorf("it said:\n%s", w1.said())
	}
	c.stands(id, core.Counts{task.Pending: 6})
	if err := unix.Unmount(mounted, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	mount()
	w1.start()
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.uncharged(id)
}
