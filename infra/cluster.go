package infra

import (
	"context"
	"fmt"
	"net"
	"slices"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// Place is where a cluster is, as a person's config.yml says.
type Place struct {
	Name    string // of the cluster
	Owner   string
	Folder  string                   // on hosts, relative to the home folder unless absolute
	Master  string                   // name of its host
	Targets map[string]remote.Target // of the hosts that are known here
}

// Cluster is a cluster that runs. Its methods are for one goroutine, but for what Dial gives.
type Cluster struct {
	*session
	place  Place
	Record layout.Record
	ends   certificates
	warned bool // of hosts of the record that nobody has listed
}

// NoCluster says that nothing runs under a name, or nothing that this user may use.
type NoCluster struct {
	Name, Host string
	Owner      string // who has a cluster of that name on that host; "" is nobody
}

func (n *NoCluster) Error() string {
	if n.Owner != "" {
		return fmt.Sprintf("the cluster %s on %s belongs to %s, or was brought up as another user "+
			"of that host or with another -r: its owner may share it with infrainit --group GROUP",
			n.Name, n.Host, n.Owner)
	}
	return fmt.Sprintf("there is no cluster %s on %s: infrainit starts one", n.Name, n.Host)
}

// Open reaches a cluster's master. Errors are *remote.Error, *NoCluster, and what goes wrong in asking.
func Open(ctx context.Context, p Place, o Options) (*Cluster, error) {
	c := &Cluster{session: newSession(p.Owner, p.Name, o), place: p}
	if err := c.Refresh(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// Refresh looks again what the cluster is made of, over a new connection where the old one died. Its errors are those of Open, after
// which it may be called again.
func (c *Cluster) Refresh(ctx context.Context) error {
	name := c.place.Master
	c.bury()
	m, there := c.machines[name]
	if !there {
		host, err := c.o.Dialer.Connect(ctx, c.place.Targets[name])
		if err != nil {
			return err
		}
		m = c.machine(name, host)
		c.machines[name] = m
	}
	var r layout.Record
	err := m.ask(ctx, func(ctx context.Context) (err error) {
		r, err = m.quick(ctx, c.place.Folder)
		return err
	})
	switch {
	case err != nil:
		c.drop(name)
		return err
	case r.Version == 0:
		none := &NoCluster{c.place.Name, name, c.ownerOn(ctx, m)}
		c.leave(ctx, name)
		return none
	}
	c.Record = r
	return nil
}

// ownerOn returns who has a cluster of this name on a host where this user has none; "" when that
// is nobody, or Docker does not tell this user.
func (c *Cluster) ownerOn(ctx context.Context, m *machine) (owner string) {
	_ = m.ask(ctx, func(ctx context.Context) error { // only the words of an error depend on it
		engine, err := m.docker(ctx)
		if err != nil {
			return err
		}
		all, err := engine.List(ctx, map[string]string{plan.ClusterLabel: c.place.Name})
		if len(all) > 0 {
			owner = all[0].Labels[plan.OwnerLabel]
		}
		return err
	})
	return owner
}

// bury drops machines whose connection has died.
func (c *Cluster) bury() {
	for n, m := range c.machines {
		if m.host.Err() != nil {
			c.drop(n)
		}
	}
}

// drop lets go of machines.
func (c *Cluster) drop(names ...string) {
	for _, n := range names {
		if m, there := c.machines[n]; there {
			_ = m.close() // it is of no more use
			delete(c.machines, n)
		}
	}
}

// Name is the cluster's.
func (c *Cluster) Name() string { return c.place.Name }

// Close ends the connections.
func (c *Cluster) Close() { c.close() }

// Dial is how the master's API is reached. It may be used concurrently, until Close or Refresh.
func (c *Cluster) Dial() Dial {
	m, there := c.machines[c.place.Master]
	if !there {
		return func(context.Context) (net.Conn, error) { return nil, c.away() }
	}
	return m.api(c.wanted())
}

// DialMonitor opens a connection to the monitor, as Dial does to the master.
func (c *Cluster) DialMonitor() Dial {
	m, there := c.machines[c.place.Master]
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
	return fmt.Errorf("the connection to %s, the master's host, has ended", c.place.Master)
}

// Done is closed when the connection to the master's host has ended.
func (c *Cluster) Done() <-chan struct{} { return c.machines[c.place.Master].host.Done() }

func (c *Cluster) wanted() plan.Cluster {
	return plan.Cluster{Name: c.place.Name, Owner: c.place.Owner, Master: c.place.Master, Group: c.Record.Group}
}

// reach connects to hosts of the record, all when none are named, and gives what is wrong with those that it did not reach: after
// it each is a machine, or has a problem.
func (c *Cluster) reach(ctx context.Context, names ...string) (plan.Problems, error) {
	c.bury()
	if !c.warned {
		c.warned = true
		c.warnOfStrangers(c.Record, c.place.Targets)
	}
	targets := map[string]remote.Target{}
	for _, h := range c.Record.Hosts {
		if _, there := c.machines[h.Name]; there || len(names) > 0 && !slices.Contains(names, h.Name) {
			continue
		}
		t, known := c.place.Targets[h.Name]
		if !known {
			t = remote.Target{Name: h.Address}
		}
		targets[h.Name] = t
	}
	away, err := c.connect(ctx, targets)
	if err != nil {
		return nil, err
	}
	var fresh []string
	for n := range targets {
		if _, there := c.machines[n]; there {
			fresh = append(fresh, n)
		}
	}
	errs := c.each(fresh, func(m *machine) error {
		return m.ask(ctx, func(ctx context.Context) error {
			_, err := m.quick(ctx, c.place.Folder)
			return err
		})
	})
	c.drop(sortedKeys(errs)...)
	return append(away, problems(errs)...), ctx.Err()
}
