package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// cutsOf are a lease and for how long the network of a task's host is cut: with FAULTS=long the
// default lease and the cuts that people have met.
func cutsOf() (lease time.Duration, cuts []time.Duration) {
	if long() {
		return core.DefaultLease, []time.Duration{20 * time.Second, 45 * time.Second,
			300 * time.Second}
	}
	const short = 12 * time.Second // workers tell of themselves every 2 s
	return short, []time.Duration{short * 3 / 2}
}

// TestCutDuringATask cuts the network of a host that runs a task. The attempt continues afterwards,
// as the task's only one, unless its lease ended while another worker was free: then the task runs
// there, once.
func TestCutDuringATask(t *testing.T) {
	slow(t)
	p := newLaptop(t, 3)
	const root = "/home/anna/ml/c"
	lease, cuts := cutsOf()
	p.up(append(p.images(), "-a", p.hosts("anna"), "-r", "ml", "-d", "digits", "--name", "c",
		"-m", "1", "-w", "2", "--slots", "1", "--lease", lease.String())...)
	c := &cutCluster{t: t, p: p, client: p.master(p.lab.Hosts[0], root), root: root}
	for _, cut := range cuts {
		t.Logf("cut of %v, lease of %v, no other worker", cut, lease)
		c.during(cut, false)
	}
	p.up("-f", "-w", "2,3")
	for _, cut := range cuts {
		t.Logf("cut of %v, lease of %v, a free worker", cut, lease)
		c.during(cut, cut > lease)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}

// cutCluster is a cluster whose hosts are cut off.
type cutCluster struct {
	t      *testing.T
	p      *laptop
	client *api.Client
	root   string
}

// during cuts the host of a running task for a time, and has the task end after that: on its host,
// or on the other worker if it moves.
func (c *cutCluster) during(cut time.Duration, moves bool) {
	c.t.Helper()
	id := submit(c.t, c.client, c.p.lab.Hosts[0], c.root, "1",
		"echo begun; until test -e go; do sleep 0.1; done; echo ended")
	first := c.runs(id, 1)
	first.Cut(c.t)
	begun := time.Now()
	for time.Since(c.seen(first)) < cut {
		if time.Since(begun) > cut+patience {
			c.t.Fatalf("%s is cut off, and is heard of", first.Name)
		}
		time.Sleep(50 * time.Millisecond)
	}
	at, attempts := first, 1
	if moves {
		at, attempts = c.runs(id, 2), 2
		if at == first {
			c.t.Fatalf("the second attempt runs on %s, too, which is cut off", at.Name)
		}
	}
	first.Heal(c.t)
	healed := time.Now()
	eventually(c.t, first.Name+" is heard of again, and runs its attempt only if that counts",
		func() bool {
			return c.seen(first).After(healed) &&
				(len(c.worker(first).Running) == 0) == moves
		})
	c.t.Logf("%s is back after %v, task %s runs on %s", first.Name,
		time.Since(begun).Round(time.Second), id, at.Name)
	at.Exec(c.t, "touch", fmt.Sprintf("%s/hosts/%s/outputs/%s/0/go", c.root, at.Name, id))
	eventually(c.t, "the task has ended", func() bool {
		return counts(c.t, c.client, id)[task.Succeeded.String()] == 1
	})
	tried, err := c.client.Task(c.t.Context(), id, 0)
	if err != nil || len(tried.Attempts) != attempts || tried.Row.Attempts != attempts ||
		tried.Row.Host != at.Name {
		c.t.Errorf("the task ended with %+v, attempts %+v: %v", tried.Row, tried.Attempts, err)
	}
	for _, a := range tried.Attempts[:max(0, len(tried.Attempts)-1)] {
		if !a.Superseded && (a.Class == nil || *a.Class != task.Loss) {
			c.t.Errorf("an attempt before the last ended with %+v", a)
		}
	}
	if out := c.p.must("run-tasks", "logs", id+"/0").out; out != "begun\nended\n" {
		c.t.Errorf("the task printed %q", out)
	}
}

// worker is the worker of a host, as the master knows it.
func (c *cutCluster) worker(h *lab.Host) core.Worker {
	c.t.Helper()
	all, err := c.client.Workers(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, w := range all {
		if w.Name == h.Name {
			return w
		}
	}
	return core.Worker{}
}

// seen is when the worker of a host was heard of.
func (c *cutCluster) seen(h *lab.Host) (at time.Time) {
	c.t.Helper()
	if w := c.worker(h); w.Seen != nil {
		at = *w.Seen
	}
	return at
}

// runs waits until an attempt at a sweep's only task runs, and returns its host.
func (c *cutCluster) runs(id string, number int) (at *lab.Host) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("attempt %d of %s runs", number, id), func() bool {
		tried, err := c.client.Task(c.t.Context(), id, 0)
		if err != nil || len(tried.Attempts) < number || tried.Attempts[number-1].Host == nil {
			return false
		}
		for _, h := range c.p.lab.Hosts {
			if strings.EqualFold(h.Name, *tried.Attempts[number-1].Host) {
				at = h
			}
		}
		return at != nil
	})
	return at
}
