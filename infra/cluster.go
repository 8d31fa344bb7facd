package infra

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// Location is where a cluster is, as a person's cluster.yml says.
type Location struct {
	Name    string                   // of the cluster
	Folder  string                   // on hosts, relative to the home folder unless absolute
	Master  string                   // name of its host
	Targets map[string]remote.Target // of the hosts that are known here
}

// Cluster is a cluster that runs. Its methods are for one goroutine, but for what Dial gives.
type Cluster struct {
	*session
	location Location
	Record   layout.Record
	ends     certificates
	warned   bool  // of hosts of the record that nobody has listed
	lost     error // why the newest Open or Refresh did not reach the master's host; nil: it did
}

// NoCluster says that nothing runs under a name, or nothing that this user may use.
type NoCluster struct {
	Name, Host string
	Owner      string // who has a cluster of that name on that host; "" is nobody
}

func (n *NoCluster) Error() string {
	if n.Owner != "" {
		return fmt.Sprintf("the cluster %s on %s belongs to %s: log in as the user of that host "+
			"who set it up (USER@HOST below hosts in cluster.yml), with the same folder",
			n.Name, n.Host, n.Owner)
	}
	return fmt.Sprintf("there is no cluster %s on %s: infrainit starts one", n.Name, n.Host)
}

// Open reaches a cluster's master. Errors are *remote.Error, *NoCluster, and what goes wrong in
// asking.
func Open(ctx context.Context, p Location, o Options) (*Cluster, error) {
	c := &Cluster{session: newSession(p.Name, o), location: p}
	if err := c.Refresh(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// Assume returns the cluster of these hosts, which Open did not reach because of err: Status asks
// them all but the master's, and Refresh looks for that one again.
func Assume(p Location, hosts []layout.RecordHost, err error, o Options) *Cluster {
	return &Cluster{session: newSession(p.Name, o), location: p, lost: err,
		Record: layout.Record{Cluster: p.Name, Master: p.Master, Hosts: hosts}}
}

// Assumed reports whether Record is what Assume was told, and not the cluster's own.
func (c *Cluster) Assumed() bool { return c.Record.Version == 0 }

// Refresh looks again what the cluster is made of, over a new connection where the old one died.
// Its errors are those of Open, after which it may be called again.
func (c *Cluster) Refresh(ctx context.Context) error {
	c.lost = c.refresh(ctx)
	return c.lost
}

func (c *Cluster) refresh(ctx context.Context) error {
	name := c.location.Master
	c.bury()
	m, there := c.connected[name]
	if !there {
		host, err := c.o.Dialer.Connect(ctx, c.location.Targets[name])
		if err != nil {
			return err
		}
		m = c.connectedHost(name, host)
		c.connected[name] = m
	}
	var r layout.Record
	err := m.ask(ctx, func(ctx context.Context) (err error) {
		r, err = m.quick(ctx, c.location.Folder)
		return err
	})
	switch {
	case err != nil:
		c.drop(name)
		return err
	case r.Version == 0:
		none := &NoCluster{c.location.Name, name, c.ownerOn(ctx, m)}
		c.leave(ctx, name)
		return none
	}
	c.Record = r
	return nil
}

// ownerOn returns who has a cluster of this name on a host where this user has none; "" when that
// is nobody, or Docker does not tell this user.
func (c *Cluster) ownerOn(ctx context.Context, m *connectedHost) (owner string) {
	_ = m.ask(ctx, func(ctx context.Context) error { // only the words of an error depend on it
		engine, err := m.docker(ctx)
		if err != nil {
			return err
		}
		all, err := engine.List(ctx, map[string]string{plan.ClusterLabel: c.location.Name})
		if len(all) > 0 {
			owner = all[0].Labels[plan.OwnerLabel]
		}
		return err
	})
	return owner
}

// bury drops hosts whose connection has died.
func (c *Cluster) bury() {
	for n, m := range c.connected {
		if m.host.Err() != nil {
			c.drop(n)
		}
	}
}

// drop lets go of hosts.
func (c *Cluster) drop(names ...string) {
	for _, n := range names {
		if m, there := c.connected[n]; there {
			_ = m.close() // it is of no more use
			delete(c.connected, n)
		}
	}
}

// Name is the cluster's.
func (c *Cluster) Name() string { return c.location.Name }

// Close ends the connections.
func (c *Cluster) Close() { c.close() }

// Dial is how the master's API is reached. It may be used concurrently, until Close or Refresh.
func (c *Cluster) Dial() Dial {
	m, there := c.connected[c.location.Master]
	if !there {
		return func(context.Context) (net.Conn, error) { return nil, c.away() }
	}
	return m.api()
}

// DialMonitor opens a connection to the monitor, as Dial does to the master.
func (c *Cluster) DialMonitor() Dial {
	m, there := c.connected[c.location.Master]
	if !there {
		return func(context.Context) (net.Conn, error) { return nil, c.away() }
	}
	port := c.Record.MonitorPort
	return func(ctx context.Context) (net.Conn, error) {
		return m.dial(ctx, "the monitor", func(a *agent.Client) (net.Conn, error) {
			return a.Port(ctx, port)
		})
	}
}

func (c *Cluster) away() error {
	return fmt.Errorf("the connection to %s, the master's host, has ended", c.location.Master)
}

// Done is closed when the connection to the master's host has ended.
func (c *Cluster) Done() <-chan struct{} { return c.connected[c.location.Master].host.Done() }

func (c *Cluster) wanted() plan.Cluster {
	return plan.Cluster{Name: c.location.Name, Master: c.location.Master}
}

// reach connects to hosts of the record, all when none are named, and gives what is wrong with
// those that it did not reach: after it each is connected, or has a problem. A host that is named
// may also be one that left the cluster and is listed here: it still has what its tasks wrote. The
// master's host is not tried again where Refresh did not reach it.
func (c *Cluster) reach(ctx context.Context, names ...string) (plan.Problems, error) {
	c.bury()
	if !c.warned {
		c.warned = true
		c.warnOfStrangers(c.Record, c.location.Targets)
	}
	targets := map[string]remote.Target{}
	for _, h := range c.Record.Hosts {
		if len(names) == 0 || slices.Contains(names, h.Name) {
			targets[h.Name] = remote.Target{Name: h.Address}
		}
	}
	for n, t := range c.location.Targets {
		if _, recorded := targets[n]; recorded || slices.Contains(names, n) {
			targets[n] = t
		}
	}
	maps.DeleteFunc(targets, func(n string, _ remote.Target) bool { return c.connected[n] != nil })
	_, lost := targets[c.location.Master]
	if lost = lost && c.lost != nil; lost {
		delete(targets, c.location.Master)
	}
	away, err := c.connect(ctx, targets)
	if err != nil {
		return nil, err
	}
	var fresh []string
	for n := range targets {
		if _, there := c.connected[n]; there {
			fresh = append(fresh, n)
		}
	}
	errs := c.each(fresh, func(m *connectedHost) error {
		return m.ask(ctx, func(ctx context.Context) error {
			_, err := m.quick(ctx, c.location.Folder)
			return err
		})
	})
	c.drop(sortedKeys(errs)...)
	if lost {
		errs[c.location.Master] = c.lost
	}
	return append(away, problems(errs)...), ctx.Err()
}
