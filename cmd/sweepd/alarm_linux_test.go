package main_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A broker that takes nothing for longer than a lease: no worker counts as gone, what runs goes on
// and does not begin again, a sweep that is submitted meanwhile waits and that is said, and
// everything goes on afterwards.
func TestBrokerFullForLongerThanALease(t *testing.T) {
	t.Parallel()
	b, s := ownBroker(t)
	s.lease = lease
	c := newCluster(t, s)
	c.worker("w1", s)
	c.worker("w2", s)
	id := c.sweep("held", held, 6)
	began := core.Counts{task.Pending: 2, task.Running: 4}
	c.stands(id, began)
	b.Ctl(t, "set_vm_memory_high_watermark", "0")
	ready := func() (why string) {
		r, err := c.client.Ready(t.Context())
		if err != nil {
			return err.Error()
		}
		for _, reason := range r.Reasons {
			why += reason.Text
		}
		return why
	}
	eventually(t, patience, "the master says that nothing that is submitted would run",
		func() bool { return strings.Contains(ready(), "memory") })
	since := time.Now()
	waiting := c.sweep("short", short, 4)
	for _, d := range []*daemon{c.master, c.workers["w1"], c.workers["w2"]} {
		eventually(t, patience, d.name+" says so", said(d, "the broker takes no messages for now"))
	}
	full := time.Duration(most(5, 12)) * lease / 4
	eventually(t, patience+full, "it has been full for longer than a lease", func() bool {
		for _, name := range []string{"w1", "w2"} {
			if w := c.shown(name); w.State == "away" {
				t.Fatalf("%s is away: %s", name, *w.Reason)
			}
		}
		if counts := c.stored(id).Head.Counts(); counts != began {
			t.Fatalf("the sweep that ran has %v; want %v", counts, began)
		}
		return time.Since(since) > full
	})
	if counts := c.stored(waiting).Head.Counts(); counts[task.Running]+counts.Done() > 0 {
		t.Errorf("what was submitted meanwhile has %v", counts)
	}
	if ready() == "" {
		t.Error("it is ready, though the broker takes nothing")
	}
	b.Ctl(t, "set_vm_memory_high_watermark", "0.8")
	c.letGo()
	c.ended(patience, id, waiting)
	c.succeeded(id)
	c.succeeded(waiting)
	c.verify() // with no fault that would explain another start
	if n := len(c.seen.Starts); n != 10 {
		t.Errorf("10 tasks began %d times", n)
	}
	eventually(t, patience, "it is ready", func() bool { return ready() == "" })
}
