package plan

import (
	"cmp"
	"net"
	"path"
	"strconv"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// workerPids is for each slot, and as many again for the worker itself.
const workerPids = 2048

// workerSpec is the worker's container. On the master's host it reaches the broker over a network
// of the two, whatever the host's firewall says. Its limits are for so many slots. Devices are its
// GPUs.
func (m *maker) workerSpec(h Host, f Found, slots int, devices []docker.Device) docker.Spec {
	c, at := m.Cluster, m.reaches(h, f)
	if h.Name == m.Master {
		at = net.JoinHostPort(Broker, strconv.Itoa(broker.Port))
	}
	s := c.hardened(Worker, h, f)
	s.Image = m.workerRef(h, f)
	l := f.layout()
	c.program(&s, f, "worker", "--name", h.Name, "--host", h.Name, "--cluster", c.Name,
		"--slots", strconv.Itoa(slots),
		"--outputs", layout.OutputsAt, "--revisions", layout.RevisionsAt, "--state", layout.StateAt,
		"--secrets-folder", layout.AttemptsAt, "--confine",
		"--broker", "amqps://"+at, "--broker-name", broker.ServerName,
		"--credentials", path.Join(layout.SecretsAt, "credentials"), "--ca",
		path.Join(layout.SecretsAt, "ca.pem"),
		"--"+environmentOption, c.Project.environment(*h.Work).String())
	s.Mounts = append(s.Mounts,
		bindReadOnly(l.Releases(), layout.RevisionsAt), bind(l.Outputs(h.Name), layout.OutputsAt),
		bind(l.State(h.Name), layout.StateAt),
		bind(l.Home(h.Name), layout.HomeAt), bindReadOnly(l.Login(h.Name), layout.SecretsAt),
		docker.Mount{At: layout.AttemptsAt, Tmpfs: &docker.Tmpfs{Size: 64 << 20}})
	for _, v := range c.volumes(h) {
		s.Mounts = append(s.Mounts, volume(v, f.Home))
	}
	s.Env = []string{"HOME=" + layout.HomeAt, "USER=" + f.User, "LOGNAME=" + f.User}
	for _, v := range h.Work.Environment {
		s.Env = append(s.Env, v.Name+"="+v.Value)
	}
	withGPUs(&s, h, f, devices)
	if len(devices) > 0 { // where all of the host's users lock them
		s.Mounts = append(s.Mounts, bind("/dev/shm", layout.GPULocksAt))
		s.Env = append(s.Env, locksVariable+"="+layout.GPULocksAt)
		if what := h.Work.GPUBusy; what != "" {
			s.Command = append(s.Command, "--gpu-busy", what)
		}
		if above := h.Work.GPUBusyAbove; above != "" {
			s.Command = append(s.Command, "--gpu-busy-above", above)
		}
	}
	s.Labels[addressLabel], _, _ = net.SplitHostPort(at)
	for _, l := range h.Work.Labels {
		s.Labels[l.Name] = l.Value
		s.Command = append(s.Command, "--label", l.Name+"="+l.Value)
	}
	s.ReadOnly = !c.Project.WritableRoot
	s.Grace = workerGrace
	s.Shm = cmp.Or(h.Work.Limits.SharedMemory, c.Project.Shm, f.Memory/2)
	s.Memory = cmp.Or(h.Work.Limits.Memory, c.Project.Memory*int64(slots), spare(f.Memory))
	s.Pids = cmp.Or(int64(h.Work.Limits.Processes),
		cmp.Or(c.Project.Pids, workerPids)*int64(slots)+workerPids)
	return s
}

// spare leaves a twentieth of a host's memory, at least 256 MiB, to the host itself.
func spare(memory int64) int64 { return max(memory/2, memory-max(memory/20, 256<<20)) }

func (h Host) slots(f Found) int { return cmp.Or(h.Work.Slots, f.Cores) }
