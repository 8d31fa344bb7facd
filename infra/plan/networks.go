package plan

import (
	"slices"

	"mlframework/infra/docker"
)

// The cluster has up to three networks on the master's host, so that who takes over a container
// reaches only what that needs: broker and master are in one, broker and the host's worker in
// another, and the monitor, which needs the master's socket and a published port, is alone. A host
// of workers has the first, with its worker in it.

// network is what every host has.
func (c Cluster) network() string { return "mlframework-" + c.Name }

// workersNetwork joins broker and worker on the master's host.
func (c Cluster) workersNetwork() string { return c.network() + "-workers" }

// monitorNetwork is the monitor's.
func (c Cluster) monitorNetwork() string { return c.network() + "-monitor" }

// networks are those of a container.
func (c Cluster) networks(role string, h Host) []docker.Network {
	in := func(name string, aliases ...string) docker.Network {
		return docker.Network{Name: name, Aliases: append([]string{role}, aliases...)}
	}
	switch {
	case role == Broker:
		return []docker.Network{in(c.network(), metricsAlias), in(c.workersNetwork())}
	case role == Monitor:
		return []docker.Network{in(c.monitorNetwork())}
	case role == Worker && h.Name == c.Master:
		return []docker.Network{in(c.workersNetwork())}
	}
	return []docker.Network{in(c.network())}
}

// makeNetworks makes the networks of a host's containers before the first of them starts.
func (m *maker) makeNetworks(host string) {
	for _, role := range []string{Broker, Master, Monitor, Worker} {
		for _, n := range m.specs[host+"/"+role].Networks {
			if what := m.networkStep(n.Name); !slices.Contains(m.found[host].Networks, n.Name) &&
				!m.done[host+"/"+what] {
				m.add(host, what, "make the "+what, Network{n.Name, m.labels("", host)})
			}
		}
	}
}

// networkStep is the step that makes a network of a host, without the host.
func (m *maker) networkStep(name string) string {
	switch name {
	case m.workersNetwork():
		return "network of workers"
	case m.monitorNetwork():
		return "network of the monitor"
	}
	return "network"
}

// networksNeed are the steps that make a host's networks.
func (m *maker) networksNeed(host string) (ids []string) {
	for _, name := range []string{m.Cluster.network(), m.workersNetwork(), m.monitorNetwork()} {
		ids = append(ids, host+"/"+m.networkStep(name))
	}
	return ids
}
