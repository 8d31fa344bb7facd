package plan

import (
	"fmt"
	"slices"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// workerWanted returns the spec of a host's worker. If only the slots differ from those of the
// container that there is, it is kept: the master tells the worker the new number while it runs,
// and again whenever it starts. It is also kept if only limits that follow the host's memory differ,
// and hardly, and, while it runs, if it has the same GPUs by other names, or GPUs more that do not
// respond now.
func (m *maker) workerWanted(h Host, f Found) docker.Spec {
	spec := m.workerSpec(h, f, h.slots(f), m.workerDevices(h, f))
	old, there := f.role(m.Name, Worker)
	if !there || old.Hash == spec.Hash() {
		return spec
	}
	for _, n := range []int{h.slots(f), SlotsOf(old)} {
		if started := m.workerSpecLike(h, f, n, old); n > 0 && started.Hash() == old.Hash {
			return started
		}
	}
	return spec
}

// workerDevices returns the GPUs of a host's worker, as Docker is asked for them. Check has found
// that they can be had.
func (m *maker) workerDevices(h Host, f Found) []docker.Device {
	devices, _ := f.requestGPUs(gpusOf(h, f).devices)
	return devices
}

// workerSpecLike returns the spec of a host's worker with what the container that there is has in
// place of nearly the same: limits that follow the host's memory, as another kernel may find some
// KiB more or less, and GPUs by other names, or such that do not respond now. No container can
// start with a lost GPU, or by a name that is gone: only one that runs, and stays, keeps its
// devices.
func (m *maker) workerSpecLike(h Host, f Found, slots int, old docker.Container) docker.Spec {
	devices := m.workerDevices(h, f)
	if old.Running() && m.madeOf(h.Name, old) && m.keepsDevices(h, f, old.Devices, devices) {
		devices = old.Devices
	}
	spec := m.workerSpec(h, f, slots, devices)
	if h.Work.Limits.Memory == 0 && m.Project.Memory == 0 && nearly(old.Memory, spec.Memory) {
		spec.Memory = old.Memory
	}
	if h.Work.Limits.SharedMemory == 0 && m.Project.Shm == 0 && nearly(old.Shm, spec.Shm) {
		spec.Shm = old.Shm
	}
	return spec
}

// nearly reports whether two sizes differ by less than a twentieth.
func nearly(a, b int64) bool { return max(a, b)-min(a, b) < max(a, b)/20 }

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
		spec := m.workerSpecLike(h, f, do.Slots, old)
		do.Limits = docker.Limits{Memory: above(old.Memory, spec.Memory),
			Pids: above(old.Pids, spec.Pids)}
		do.Container = old.Name
	}
	title := fmt.Sprintf("set the worker's slots %d -> %d; what runs goes on", do.Before, do.Slots)
	m.add(h.Name, stepSlots, title, do, h.Name+"/"+stepReported, m.Master+"/"+stepReady)
}

// above returns a limit that is higher than the one that there is; 0 is none.
func above(old, wanted int64) int64 {
	if old == 0 || wanted <= old {
		return 0
	}
	return wanted
}
