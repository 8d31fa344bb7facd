package main_test

import (
	"testing"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/task"
)

// What is cancelled while the broker is away stays so when everything has been restarted: tasks
// that nobody has, that are on their way, that wait at a worker, and that run.
func TestCancelledWithTheBrokerAway(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(c *cluster, id string){
		"the sweep": func(c *cluster, id string) {
			if _, err := c.client.Cancel(c.t.Context(), id); err != nil {
				c.t.Fatal(err)
			}
			c.seen.Cancelled = append(c.seen.Cancelled, invariants.Cancel{Sweep: id,
				Index: invariants.Whole, At: time.Now()})
		},
		"each of its tasks": func(c *cluster, id string) {
			for index := range int64(10) {
				if _, err := c.client.CancelTask(c.t.Context(), id, index); err != nil {
					c.t.Fatal(err)
				}
				c.seen.Cancelled = append(c.seen.Cancelled, invariants.Cancel{Sweep: id,
					Index: index, At: time.Now()})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			wire := broker.Through(t, s.url)
			s = s.through(wire)
			c := newCluster(t, s)
			w1, w2 := c.worker("w1", s), c.worker("w2", s)
			freeze(t, w2.executor())
			id := c.sweep("held", stubborn, 10)
			c.stands(id, core.Counts{task.Pending: 6, task.Queued: 2, task.Running: 2})
			wire.Cut()
			eventually(t, patience, "the master sees that the broker is away", said(c.master,
				"the broker cannot be used"))
			cancel(c, id)
			for _, d := range []*daemon{c.master, w1, w2} {
				d.kill()
			}
			c.letGo() // what runs all the same would succeed
			wire.Heal()
			for _, d := range []*daemon{c.master, w1, w2} {
				d.start()
			}
			c.ready("w1", "w2")
			c.ended(patience, id)
			if counts := c.stored(id).Head.Counts(); counts[task.Cancelled] != 10 {
				t.Errorf("of 10 tasks, %d are cancelled: %v", counts[task.Cancelled], counts)
			}
			c.fault("", "everything was restarted", func() {})
			c.verify()
		})
	}
}
