package plan

import (
	"slices"
)

// portOf is the port that the cluster's container of a role has on a host.
func (c Cluster) portOf(f Found, role string) int {
	o, ok := f.role(c.Name, role)
	if !ok || len(o.Ports) == 0 {
		return 0
	}
	return o.Ports[0].Port
}

func (m *maker) brokerPort() int {
	return m.port(Broker, m.BrokerPort, m.old.BrokerPort,
		firstBroker)
}

func (m *maker) monitorPort() int {
	return m.port(Monitor, m.MonitorPort, m.old.MonitorPort, firstMonitor)
}

// port is the one that is wanted, else that which the cluster has, else the first that is free.
func (m *maker) port(role string, wanted, recorded, first int) int {
	f, here := m.found[m.Master]
	switch {
	case wanted != 0:
		return wanted
	case !here:
		return recorded
	}
	if p := m.portOf(f, role); p != 0 {
		return p
	}
	taken := slices.Clone(f.Listening)
	for _, o := range f.Containers {
		if o.Labels[ClusterLabel] != m.Name {
			for _, p := range o.Ports {
				taken = append(taken, p.Port)
			}
		}
	}
	if recorded != 0 && !slices.Contains(taken, recorded) {
		return recorded
	}
	for p := first; p < first+portTries; p++ {
		if !slices.Contains(taken, p) {
			return p
		}
	}
	return first // it is taken, and its start will say by whom
}
