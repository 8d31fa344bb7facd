package plan

import (
	"slices"

	"mlframework/infra/layout"
)

// keep writes the record when it is to change.
func (m *maker) keep(r layout.Record, what, title string, needs ...string) {
	if !r.Equal(m.kept) {
		m.add(m.Master, what, title, Keep{r}, needs...)
		m.kept = r
	}
}

// record is what the cluster will be made of. Before those that leave have left they are in it, so
// that whoever comes after a call that was cut off knows of them.
func (m *maker) record(before bool) layout.Record {
	r := layout.Record{Version: 1, Cluster: m.Name, Owner: m.Owner, Master: m.Master,
		BrokerPort: m.brokerPort(), MonitorPort: m.monitorPort(),
		Exposed: m.Exposed, Program: m.Program, Schema: m.Schema}
	r.Images = m.pinned()
	if m.Adds {
		r.Exposed = m.old.Exposed
		r.Program, r.Schema = m.old.Program, m.old.Schema
	}
	for _, h := range m.Hosts {
		one := layout.RecordHost{Name: h.Name, Address: h.Address.String(), Worker: h.Work != nil}
		if one.Worker {
			one.Slots = m.recorded(h.Name).Slots
		}
		if !before && m.resizes(h) {
			one.Slots = h.slots(m.found[h.Name])
		}
		r.Hosts = append(r.Hosts, one)
	}
	for _, o := range m.old.Hosts {
		i := slices.IndexFunc(r.Hosts, func(h layout.RecordHost) bool { return h.Name == o.Name })
		f, reached := m.found[o.Name]
		if slices.Contains(m.Away, o.Name) {
			o.Leaves, o.Worker = true, false
		}
		switch {
		case (o.Leaves || o.Outputs) && m.GiveUp && !before && !reached:
		case i < 0 && (before || m.Adds || !reached):
			r.Hosts = append(r.Hosts, o)
		case i < 0 && slices.Contains(f.Outputs, o.Name):
			r.Hosts = append(r.Hosts, layout.RecordHost{Name: o.Name, Address: o.Address,
				Outputs: true})
		case i >= 0 && m.Adds:
			r.Hosts[i].Worker = r.Hosts[i].Worker || o.Worker
		}
	}
	return r
}
