package main_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mlframework/internal/invariants"
	"mlframework/sweep/task"
)

// A program that kills its worker at once takes the event of its start along: it is listed and
// charged all the same.
func TestEveryStartIsListed(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	w := c.worker("w1", s)
	sub := c.submission("deadly", "kill -9 $PPID", 2)
	sub.Record.Retry.Lost = 2
	id := c.submit(sub)
	c.fault("w1", "killed by its tasks", func() {
		eventually(t, 4*patience, "both tasks are lost", func() bool {
			if !w.running() {
				w.start()
			}
			return c.over(id)
		})
	})
	if counts := c.stored(id).Head.Counts(); counts[task.Lost] != 2 {
		t.Errorf("it ended as %v", counts)
	}
	file, err := os.Open(c.path("starts"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	starts, err := invariants.ReadStarts(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(2) {
		shown, err := c.client.Task(t.Context(), id, n)
		if err != nil {
			t.Fatal(err)
		}
		began := map[int]bool{}
		for _, s := range starts {
			if s.Task.Index == n {
				began[s.Attempt] = true
			}
		}
		listed := map[int]bool{}
		for _, a := range shown.Attempts {
			listed[a.Attempt] = true
			if began[a.Attempt] && (a.Host == nil || a.Worker != "w1") {
				t.Errorf("%d: attempt %d began, and is listed as %+v", n, a.Attempt, a)
			}
			delete(began, a.Attempt)
		}
		// more: what was lost before it began
		if len(began) > 0 || shown.Row.Attempts != len(shown.Attempts) ||
			len(listed) != len(shown.Attempts) || len(listed) < 3 {
			t.Errorf("%d: %d attempts; of those that began are missing: %v; listed are", n,
				shown.Row.Attempts, began)
			for _, a := range shown.Attempts {
				t.Errorf("  %d on %s, host %v, superseded %v: %v", a.Attempt, a.Worker,
					a.Host != nil, a.Superseded, *a.Reason)
			}
		}
	}
	t.Logf("%d starts", len(starts))
}

// What was handed to a worker that is gone may have begun: it is listed, and when the worker tells
// that it did, so is that.
func TestWhatMayHaveBegunIsListed(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.lease = lease
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	pair := []int{w1.guard(), w1.executor()}
	for _, pid := range pair { // frozen: it claims nothing
		freeze(t, pid)
	}
	id := c.sweep("short", "", 2)
	c.stands(id, mustCounts(2, task.Queued))
	c.worker("w2", s)
	c.ended(4*patience, id)
	for n := range int64(2) {
		shown, err := c.client.Task(t.Context(), id, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(shown.Attempts) != 2 || shown.Row.Attempts != 2 {
			t.Errorf("%d: %d attempts, listed are %+v", n, shown.Row.Attempts, shown.Attempts)
			continue
		}
		first := shown.Attempts[0]
		if first.Worker != "w1" || first.Reason == nil || !strings.HasSuffix(*first.Reason,
			"whether it began is not known") {
			t.Errorf("%d: the first is %+v", n, first)
		}
	}
	if i := slices.Index(pair, 0); i >= 0 {
		t.Error("w1 had ended")
	}
	_ = syscall.Kill(pair[0], syscall.SIGCONT)
}

func mustCounts(n int64, s task.State) (counts [task.Cancelled + 1]int64) {
	counts[s] = n
	return counts
}
