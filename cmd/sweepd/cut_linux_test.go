package main_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// lease is short, so that tests are, and long enough for a busy machine: workers tell of themselves
// every 2 s.
const lease = 15 * time.Second

// A worker whose connection is cut for less than its lease goes on: nothing begins again.
func TestCutForLessThanTheLease(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	wire := broker.Through(t, s.url)
	c.worker("w1", s.through(wire))
	c.worker("w2", s)
	c.worker("w3", s)
	id := c.sweep("held", held, 12)
	c.stands(id, core.Counts{task.Pending: 6, task.Running: 6})
	wire.Cut()
	eventually(t, patience, "the worker sees that it is cut off", said(c.workers["w1"],
		"the broker cannot be used"))
	wire.Heal()
	healed := time.Now()
	// It speaks again, and then the lease that it had when it was cut off is over.
	eventually(t, patience+lease, "the worker is heard of", func() bool {
		seen := c.shown("w1").Seen
		return seen != nil && seen.After(healed.Add(lease))
	})
	c.stands(id, core.Counts{task.Pending: 6, task.Running: 6})
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify() // with no fault that would explain another start
}

// A worker that is cut off for longer than its lease loses what it runs to others: one rerun, and
// its late result is kept as superseded.
func TestCutForLongerThanTheLease(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	wire := broker.Through(t, s.url)
	c.worker("w1", s.through(wire))
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	c.worker("w2", s)
	c.fault("w1", "cut off", func() {
		wire.Cut()
		eventually(t, patience+lease, "the tasks run again, on w2", func() bool {
			running := c.shown("w2").Running
			return len(running) == 2 && running[0].Attempt > 1 && running[1].Attempt > 1
		})
	})
	c.letGo()
	eventually(t, patience, "the attempts have ended on both workers", func() bool {
		return len(attempts(c.dir)) == 0
	})
	c.ended(patience, id)
	wire.Heal()
	late := map[int64][]core.Attempt{}
	eventually(t, patience, "the late results are in the store", func() bool {
		late = c.superseded(id)
		return len(late[0]) > 0 && len(late[1]) > 0
	})
	for index, tries := range late {
		if len(tries) != 1 || tries[0].Worker != "w1" || tries[0].Outcome.Class != task.Success {
			t.Errorf("task %d has the superseded results %+v", index, tries)
		}
	}
	c.succeeded(id)
	c.verify()
	if n := len(c.seen.Starts); n != 4 {
		t.Errorf("2 tasks began %d times: %+v", n, c.seen.Starts)
	}
	for _, s := range c.seen.Starts {
		if want := slices.Index([]string{"", "w1", "w2"}, s.Worker); s.Attempt != want {
			t.Errorf("attempt %d ran on %s", s.Attempt, s.Worker)
		}
	}
}

// A worker that is cut off for longer than its lease, and whose tasks are not rescheduled,
// continues them when it reconnects. Attempts that ended or started meanwhile count: no task is
// restarted, and none is charged.
func TestTasksContinueAfterLeaseEnds(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	wire := broker.Through(t, s.url)
	w1 := c.worker("w1", s.through(wire))
	id := c.sweep("held", `test "$TASK_INDEX" = 0 && GO="$GO-first"
`+held, 4)
	c.stands(id, core.Counts{task.Claimed: 2, task.Running: 2})
	wire.Cut()
	eventually(t, patience, "the worker sees that it is cut off", said(w1,
		"the broker cannot be used"))
	if err := os.WriteFile(c.path("go-first"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience+lease, "the worker is away", func() bool {
		return c.shown("w1").State == core.WorkerAway
	})
	c.stands(id, core.Counts{task.Pending: 4})
	if s, err := c.client.Sweep(t.Context(), id, false); err != nil || s.Silent == nil ||
		!strings.HasPrefix(*s.Silent, "no heartbeat from w1 for ") {
		t.Errorf("the sweep says %v, %v", s.Silent, err)
	}
	if row, err := c.client.Task(t.Context(), id, 1); err != nil ||
		!strings.HasPrefix(row.Row.Reason, "no heartbeat from w1 for ") {
		t.Errorf("the task says %q, %v", row.Row.Reason, err)
	}
	wire.Heal()
	eventually(t, patience, "the first task has ended, and another one runs", func() bool {
		counts := c.stored(id).Head.Counts()
		return counts[task.Succeeded] == 1 && counts[task.Running] == 2
	})
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify() // with no fault that would explain another start
	if n := len(c.seen.Starts); n != 4 {
		t.Errorf("4 tasks began %d times: %+v", n, c.seen.Starts)
	}
	c.read(func(ctx context.Context, r *store.Reader) error {
		s, err := r.Sweep(ctx, id)
		if err != nil {
			return err
		}
		for row, err := range r.Tasks(ctx, s, store.TaskQuery{}) {
			// a task that had not begun is handed out again if the cut came before its delivery
			// was acknowledged
			again := row.Attempts != 1 && row.Index < 2
			if err != nil || row.Charged != (task.Retry{}) || again {
				t.Errorf("task %d has %d attempts and is charged %+v: %v", row.Index, row.Attempts,
					row.Charged, err)
			}
		}
		return nil
	})
}

// A worker that is stopped for longer than its lease and goes on is told that its attempts do not
// count any more.
func TestFrozenForLongerThanTheLease(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	c.worker("w2", s)
	thaw := freeze(t, w1.executor())
	c.fault("w1", "frozen", func() {
		eventually(t, patience+lease, "the tasks run again, on w2", func() bool {
			return len(c.shown("w2").Running) == 2
		})
	})
	thaw()
	eventually(t, patience, "w1 has stopped its attempts", func() bool {
		return !slices.ContainsFunc(attempts(c.dir), func(s invariants.Start) bool {
			return s.Worker == "w1"
		})
	})
	c.stands(id, core.Counts{task.Running: 2})
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
}
