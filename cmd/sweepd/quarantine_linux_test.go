package main_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// A host that cannot run anything any more is charged to the few attempts that found that out,
// whatever waited there, and the quarantine says why.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("short", "", 2000)
	eventually(t, patience, "30 tasks succeeded", func() bool {
		return c.stored(id).Head.Rows[task.Succeeded] >= 30
	})
	// The worker would make a folder that is missing for a moment.
	if err := errors.Join(os.WriteFile(c.path("away"), nil, 0o600), unix.Renameat2(unix.AT_FDCWD,
		c.path("w1"), unix.AT_FDCWD, c.path("away"), unix.RENAME_EXCHANGE)); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "w1 is in quarantine and has nothing", func() bool {
		w := c.shown("w1")
		return w.State == core.WorkerQuarantined && w.Held == 0
	})
	if why := c.shown("w1").Reason; why == nil || !strings.Contains(*why, "not a directory") {
		t.Errorf("the reason is %v", why)
	}
	charged, ended := 0, 0
	c.read(func(ctx context.Context, r *store.Reader) error {
		stored, err := r.Sweep(ctx, id)
		for row, failed := range r.Tasks(ctx, stored, store.TaskQuery{}) {
			err = errors.Join(err, failed)
			charged += row.Charged.Lost
			if row.State == task.Failed {
				ended++
			}
		}
		return err
	})
	// On the other slot, a program that ran when the folder went away may end well after two of them.
	if charged > 2*task.MaxHostFaults-1 {
		t.Errorf("%d attempts were charged", charged)
	}
	if ended > 2 { // those that ran when their folder went away
		t.Errorf("%d tasks failed", ended)
	}
	t.Logf("%d attempts were charged, %d failed", charged, ended)
}
