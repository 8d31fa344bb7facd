package main_test

import (
	"context"
	"syscall"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// A worker that is asked to end stops what runs and gives back what waits: nothing is lost, and
// nothing is charged.
func TestWorkerStopped(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	id := c.sweep("held", held, 6)
	c.stands(id, core.Counts{task.Pending: 2, task.Claimed: 2, task.Running: 2})
	c.fault("w1", "stopped", func() {
		w1.signal(syscall.SIGTERM)
		if code := w1.exitCode(); code != cli.OK {
			t.Errorf("exit code %d", code)
		}
	})
	if left := attempts(c.dir); len(left) > 0 {
		t.Errorf("it left %+v", left)
	}
	eventually(t, patience, "the master knows that it left", func() bool {
		return c.shown("w1").State == core.WorkerAway
	})
	c.stands(id, core.Counts{task.Pending: 6})
	c.letGo()
	c.worker("w2", s)
	c.ended(patience, id)
	c.succeeded(id)
	c.uncharged(id)
	c.verify()
}

// A worker that is drained finishes what runs, and what waits goes to others.
func TestWorkerDrained(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("held", held, 6)
	c.stands(id, core.Counts{task.Pending: 2, task.Claimed: 2, task.Running: 2})
	if _, err := c.client.Drain(t.Context(), "w1", false); err != nil {
		t.Fatal(err)
	}
	c.stands(id, core.Counts{task.Pending: 4, task.Running: 2})
	c.letGo()
	c.stands(id, core.Counts{task.Pending: 4, task.Succeeded: 2})
	c.worker("w2", s)
	c.ended(patience, id)
	c.succeeded(id)
	c.uncharged(id)
	c.verify() // with no fault that would explain another start
	began := map[string]int{}
	for _, s := range c.seen.Starts {
		began[s.Worker]++
	}
	if began["w1"] != 2 || began["w2"] != 4 {
		t.Errorf("of 6 tasks, w1, which was drained with 2, began %d, and w2 %d", began["w1"],
			began["w2"])
	}
}

// uncharged checks that no attempt of a sweep was charged to a task.
func (c *cluster) uncharged(id string) {
	c.t.Helper()
	c.read(func(ctx context.Context, r *store.Reader) error {
		s, err := r.Sweep(ctx, id)
		if err != nil {
			return err
		}
		for row, err := range r.Tasks(ctx, s, store.TaskQuery{}) {
			if err != nil {
				return err
			}
			if row.Charged != (task.Retry{}) {
				c.t.Errorf("task %d was charged %+v", row.Index, row.Charged)
			}
		}
		return nil
	})
}

// says waits until two tasks that run on w1 have printed something: a trap that comes before it is
// set then. That they run the master may know before that.
func (c *cluster) says(id, what string) {
	c.t.Helper()
	eventually(c.t, patience, "two tasks say "+what, func() bool {
		said := 0
		for n := range int(c.stored(id).Head.Total) {
			if c.printed(id, n) == what {
				said++
			}
		}
		return said == 2
	})
}

// The second SIGTERM does not wait for programs that ignore the first: the worker leaves at once,
// with all of them.
func TestWorkerStoppedTwice(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	submission := c.submission("stubborn", stubborn, 4)
	submission.Record.Recipe.Grace = 10 * patience
	id := c.submit(submission)
	c.stands(id, core.Counts{task.Claimed: 2, task.Running: 2})
	c.says(id, "deaf")
	c.fault("w1", "stopped twice", func() {
		w1.signal(syscall.SIGTERM)
		eventually(t, patience, "it has heard the first, and gives back what waits", func() bool {
			return c.stored(id).Head.Counts()[task.Claimed] == 0
		})
		w1.signal(syscall.SIGINT) // a second SIGTERM at once may be a copy of the first
		if code := w1.exitCode(); code != cli.Interrupted {
			t.Errorf("exit code %d", code)
		}
	})
	if left := attempts(c.dir); len(left) > 0 {
		t.Errorf("it left %+v", left)
	}
	c.letGo()
	w1.start()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
}

// What runs is given its grace, also when that is longer than the lease: the worker is not taken
// for gone meanwhile.
func TestWorkerStoppedSlowly(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	submission := c.submission("slow", "trap 'sleep 20; exit 0' TERM; echo slow\n"+held, 2)
	submission.Record.Recipe.Grace = 10 * patience
	submission.Record.Retry.Lost = 0
	id := c.submit(submission)
	c.stands(id, core.Counts{task.Running: 2})
	c.says(id, "slow")
	c.worker("w2", s)
	c.fault("w1", "stopped", func() {
		w1.signal(syscall.SIGTERM)
		eventually(t, patience+2*lease, "it has ended", func() bool { return !w1.running() })
		if code := w1.exitCode(); code != cli.OK {
			t.Errorf("exit code %d", code)
		}
	})
	c.letGo()
	c.ended(patience, id)
	c.uncharged(id)
	c.succeeded(id)
	c.verify()
}
