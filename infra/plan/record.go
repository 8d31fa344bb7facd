package plan

import (
	"fmt"
	"regexp"
	"slices"

	"mlframework/infra/host"
)

// keep writes the record when it is to change.
func (m *maker) keep(r Record, what, title string, needs ...string) {
	if !r.Equal(m.kept) {
		m.add(m.Master, what, title, Keep{m.found[m.Master].layout().Record(), r}, needs...)
		m.kept = r
	}
}

// record is what the cluster will be made of. Before those that leave have left they are in it, so that whoever comes after a
// call that was cut off knows of them.
func (m *maker) record(before bool) Record {
	r := Record{Version: 1, Cluster: m.Name, Owner: m.Owner, Master: m.Master, BrokerPort: m.brokerPort(), MonitorPort: m.monitorPort(), Group: m.Group, Exposed: m.Exposed}
	if m.Adds {
		r.Group, r.Exposed = m.old.Group, m.old.Exposed
	}
	for _, h := range m.Hosts {
		r.Hosts = append(r.Hosts, RecordHost{Name: h.Name, Address: h.Address.String(), Worker: h.Work != nil})
	}
	for _, o := range m.old.Hosts {
		i := slices.IndexFunc(r.Hosts, func(h RecordHost) bool { return h.Name == o.Name })
		_, reached := m.found[o.Name]
		if slices.Contains(m.Away, o.Name) {
			o.Leaves, o.Worker = true, false
		}
		switch {
		case o.Leaves && m.GiveUp && !before && !reached:
		case i < 0 && (before || m.Adds || !reached):
			r.Hosts = append(r.Hosts, o)
		case i >= 0 && m.Adds:
			r.Hosts[i].Worker = r.Hosts[i].Worker || o.Worker
		}
	}
	return r
}

// hostName is what host.Names makes.
var hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// mostHosts bounds a record, which is the word of a host.
const mostHosts = 10000

// Check finds what no release writes: names become those of folders and containers, and addresses are connected to.
func (r Record) Check() error {
	if len(r.Hosts) > mostHosts {
		return fmt.Errorf("it has %d hosts", len(r.Hosts))
	}
	for _, port := range []int{r.BrokerPort, r.MonitorPort} {
		if port < 0 || port > 1<<16-1 {
			return fmt.Errorf("%d is no port", port)
		}
	}
	names := map[string]bool{}
	for _, h := range r.Hosts {
		if !hostName.MatchString(h.Name) || names[h.Name] {
			return fmt.Errorf("%.100q is no name of a host, or another has it", h.Name)
		}
		names[h.Name] = true
		if h.Address == host.LocalName {
			continue
		}
		if _, err := host.Parse(h.Address); err != nil {
			return fmt.Errorf("the address of %s: %w", h.Name, err)
		}
	}
	if len(r.Hosts) > 0 && !names[r.Master] {
		return fmt.Errorf("its master %.100q is none of its hosts", r.Master)
	}
	return nil
}

// Equal tells whether two records say the same.
func (r Record) Equal(o Record) bool {
	a, b := r, o
	a.Hosts, b.Hosts = nil, nil
	return fmt.Sprint(a) == fmt.Sprint(b) && slices.Equal(r.Hosts, o.Hosts)
}
