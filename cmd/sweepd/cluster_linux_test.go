package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/store"
)

// cluster is a master and workers, each a process of its own with folders of its own, as on hosts
// of their own.
type cluster struct {
	t       testing.TB
	dir     string
	master  *daemon
	workers map[string]*daemon
	client  *api.Client
	seen    invariants.Evidence
}

// site says where a cluster's parts find their broker.
type site struct {
	t      testing.TB
	broker *broker.Broker
	url    string
	vhost  string
	// a file with credentials that everybody has instead of their own; "": each has its own
	wrong string
	lease time.Duration // 0: the usual
}

// open is a site of its own on the shared broker.
func open(t testing.TB) site {
	t.Helper()
	b, vhost := shared.Get(t), shared.Vhost(t)
	return site{t: t, broker: b, url: broker.In(b.URL, vhost), vhost: vhost}
}

// through is the site behind a proxy.
func (s site) through(p *broker.Proxy) site {
	s.url = p.URL
	return s
}

// master says how a master reaches the broker, with a user of its own.
func (s site) master() []string { s.t.Helper(); return s.flags(s.broker.Master(s.t, s.vhost)) }

// worker says how a worker reaches the broker, with a user of its own.
func (s site) worker(name string) []string {
	s.t.Helper()
	return s.flags(s.broker.Worker(s.t, s.vhost, name))
}

func (s site) flags(credentials string) []string {
	if s.wrong != "" {
		credentials = s.wrong
	}
	return []string{"--broker", s.url, "--credentials", credentials}
}

// newCluster makes a cluster without workers; its master runs.
func newCluster(t testing.TB, s site) *cluster {
	t.Helper()
	dependOnSources(t)
	dir, err := os.MkdirTemp("", "sweepd-") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() || !long() {
			_ = os.RemoveAll(dir)
		}
	})
	c := &cluster{t: t, dir: dir, workers: map[string]*daemon{},
		seen: invariants.Evidence{Confirmed: map[string]int64{}}}
	c.seen.Output = c.output
	if err := os.MkdirAll(filepath.Join(dir, "revisions", revision), 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"master", "--store", c.path("store"), "--socket", c.path("socket"),
		"--monitor-socket", c.path("read")}, s.master()...)
	if s.lease > 0 {
		args = append(args, "--lease", s.lease.String())
	}
	c.master = newDaemon(t, dir, "master", args...)
	c.client = api.Dial(c.path("socket"))
	t.Cleanup(c.client.Close)
	c.master.start()
	return c
}

func (c *cluster) path(names ...string) string {
	return filepath.Join(append([]string{c.dir}, names...)...)
}

// worker starts a worker with two slots, and waits until the master has it.
func (c *cluster) worker(name string, s site) *daemon {
	c.t.Helper()
	d := newDaemon(c.t, c.dir, name, append([]string{"worker", "--name", name, "--host",
		"host-" + name, "--slots", "2",
		"--outputs", c.path(name), "--revisions", c.path("revisions")}, s.worker(name)...)...)
	c.workers[name] = d
	d.start()
	c.ready(name)
	return d
}

// three starts three workers.
func (c *cluster) three(s site) {
	c.t.Helper()
	for _, name := range []string{"w1", "w2", "w3"} {
		c.worker(name, s)
	}
}

// ready waits until the master has workers that take tasks. After a broker lost everything that
// takes a lease.
func (c *cluster) ready(names ...string) {
	c.t.Helper()
	eventually(c.t, patience+lease, fmt.Sprintf("%v are ready", names), func() bool {
		for _, name := range names {
			if c.shown(name).State != core.WorkerReady {
				return false
			}
		}
		return true
	})
}

// shown is a worker as the master shows it; the zero value when it does not.
func (c *cluster) shown(name string) (w core.Worker) {
	all, err := c.client.Workers(c.t.Context())
	if i := slices.IndexFunc(all, func(w core.Worker) bool { return w.Name == name }); err == nil &&
		i >= 0 {
		return all[i]
	}
	return w
}

// fault notes what justifies that attempts begin again.
func (c *cluster) fault(worker, what string, do func()) {
	c.t.Helper()
	f := invariants.Fault{Worker: worker, What: what, From: time.Now()}
	do()
	f.To = time.Now()
	c.seen.Faults = append(c.seen.Faults, f)
}

// crash kills processes of a worker and starts it again. What it leaves when both of its processes
// die at once goes on until the next one ends it.
func (c *cluster) crash(name string, pids ...int) {
	c.t.Helper()
	d := c.workers[name]
	c.fault(name, "killed", func() {
		d.killOf(pids...)
		d.start()
		d.begun()
	})
}

// stored reads a sweep from the store, whether the master lives or not.
func (c *cluster) stored(id string) (s store.Sweep) {
	c.t.Helper()
	c.read(func(ctx context.Context, r *store.Reader) (err error) {
		s, err = r.Sweep(ctx, id)
		return err
	})
	return s
}

func (c *cluster) read(f func(context.Context, *store.Reader) error) {
	c.t.Helper()
	ctx := context.Background() // also while the test cleans up
	r, err := store.OpenReader(ctx, c.path("store"))
	if err == nil {
		defer r.Close()
		err = f(ctx, r)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// ended waits for the end of sweeps.
func (c *cluster) ended(within time.Duration, ids ...string) {
	c.t.Helper()
	defer func() {
		if c.t.Failed() {
			for _, id := range ids {
				h := c.stored(id).Head
				c.t.Logf("%s is %s, with %v", id, h.State, h.Counts())
			}
		}
	}()
	for _, id := range ids {
		eventually(c.t, within, id+" has ended", func() bool { return c.over(id) })
	}
}

func (c *cluster) over(id string) bool { return !c.stored(id).Head.Ended.IsZero() }

// verify holds the cluster to what is promised: all sweeps have ended, and nothing of them is
// alive.
func (c *cluster) verify() {
	c.t.Helper()
	file, err := os.Open(c.path("starts"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	if c.seen.Starts, err = invariants.ReadStarts(file); err != nil {
		c.t.Fatal(err)
	}
	// An attempt that does not count any more may take its grace after the last that does.
	becomes(patience, func() bool {
		c.seen.Alive = attempts(c.dir)
		return len(c.seen.Alive) == 0
	})
	c.read(func(ctx context.Context, r *store.Reader) error {
		found, err := invariants.Check(ctx, r, c.seen)
		if err == nil {
			err = invariants.Error(found)
		}
		return err
	})
	c.t.Logf("%d starts, %d faults, no violation", len(c.seen.Starts), len(c.seen.Faults))
}

// said tells whether a part of the cluster logged a text.
func said(d *daemon, text string) func() bool {
	return func() bool { return strings.Contains(d.said(), text) }
}
