package plan

import (
	"fmt"
	"slices"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// workerWanted returns the spec of a host's worker. A worker that differs from what is wanted in
// its slots alone is wanted as it was started: the master tells it another number while it runs,
// and again whenever it starts.
func (m *maker) workerWanted(h Host, f Found) docker.Spec {
	spec := m.workerSpec(h, f, h.slots(f))
	old, there := f.role(m.Name, Worker)
	if n := SlotsOf(old); there && n > 0 && old.Hash != spec.Hash() {
		if started := m.workerSpec(h, f, n); started.Hash() == old.Hash {
			return started
		}
	}
	return spec
}

// slotsBefore returns the slots that a host's worker was last given; 0: it has had none.
func (m *maker) slotsBefore(host string) int {
	if n := m.recorded(host).Slots; n > 0 {
		return n
	}
	old, _ := m.found[host].role(m.Name, Worker)
	return SlotsOf(old)
}

// recorded returns the host of the record that the cluster has; zero is none.
func (m *maker) recorded(host string) layout.RecordHost {
	i := slices.IndexFunc(m.old.Hosts, func(o layout.RecordHost) bool { return o.Name == host })
	if i < 0 {
		return layout.RecordHost{}
	}
	return m.old.Hosts[i]
}

// resizes reports whether a host's worker gets another number of slots than it was given.
func (m *maker) resizes(h Host) bool {
	before := m.slotsBefore(h.Name)
	return h.Work != nil && !m.Adds && before != 0 && before != h.slots(m.found[h.Name])
}

// resize has a worker that has reported run more or fewer tasks at a time.
func (m *maker) resize(h Host) {
	if !m.resizes(h) {
		return
	}
	f := m.found[h.Name]
	do := SetSlots{Worker: h.Name, Slots: h.slots(f), Before: m.slotsBefore(h.Name)}
	if old, there := f.role(m.Name, Worker); there && m.runs(h.Name, Worker) {
		// Limits follow the slots. They are not lowered: what runs may need what it has.
		spec := m.workerSpec(h, f, do.Slots)
		do.Limits = docker.Limits{Memory: above(old.Memory, spec.Memory), Pids: above(old.Pids, spec.Pids)}
		do.Container = old.Name
	}
	title := fmt.Sprintf("set the worker's slots %d -> %d; what runs goes on", do.Before, do.Slots)
	m.add(h.Name, "slots", title, do, h.Name+"/reported", m.Master+"/ready")
}

// above returns a limit that is higher than the one that there is; 0 is none.
func above(old, wanted int64) int64 {
	if old == 0 || wanted <= old {
		return 0
	}
	return wanted
}
