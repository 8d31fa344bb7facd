package plan

import (
	"fmt"
	"path"
	"slices"
	"time"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/host"
	"mlframework/infra/layout"
)

// Limits of the containers that are ours.
const (
	// brokerMemory is the memory of the broker's container, twice what it takes before it stops
	// taking more.
	brokerMemory  = 1 << 30
	masterMemory  = 1 << 30
	monitorMemory = 256 << 20
	ourPids       = 1024
	// A container's log is small: what tasks print is in their outputs.
	logSize, logFiles = 5 << 20, 3
)

// metricsAlias is the broker's name in the network of the master, and in no other.
const metricsAlias = "broker-metrics"

// Graces: how long a container gets between SIGTERM and SIGKILL.
const (
	shortGrace  = 10 * time.Second
	brokerGrace = 30 * time.Second // to write what it holds
	workerGrace = 60 * time.Second // what runs gets its own, 10 s unless tasks.yml says otherwise
)

// hardened is what every container has: no privileges, and a root file system that nobody can write
// to.
func (c Cluster) hardened(role string, h Host, f Found) docker.Spec {
	uid, gid := f.RunAs()
	return docker.Spec{
		Name:     c.Container(role),
		User:     fmt.Sprintf("%d:%d", uid, gid),
		Labels:   c.labels(role, h.Name),
		Mounts:   []docker.Mount{{At: "/tmp", Tmpfs: &docker.Tmpfs{Exec: true}}},
		Networks: c.networks(role, h),
		ReadOnly: true, NoNewPrivileges: true, DropCaps: []string{"ALL"},
		Restart: "unless-stopped", Grace: shortGrace, Pids: ourPids,
		Log: docker.Log{Driver: "json-file", MaxSize: logSize, Files: logFiles},
	}
}

// nobody is who runs containers where the user of the host is root, as usual for a user that needs
// no name.
const nobody = 65532

// RunAs returns who runs containers, and owns what they write: the ssh user, or nobody where that
// is root.
func (f Found) RunAs() (uid, gid int) {
	if f.UID == 0 {
		return nobody, nobody
	}
	return f.UID, f.GID
}

func bind(from, at string) docker.Mount { return docker.Mount{Bind: from, At: at} }

func bindReadOnly(from, at string) docker.Mount {
	return docker.Mount{Bind: from, At: at, ReadOnly: true}
}

// program mounts sweepd and runs it.
func (c Cluster) program(s *docker.Spec, f Found, args ...string) {
	s.Mounts = append(s.Mounts, bindReadOnly(path.Dir(f.layout().Sweepd(c.Sweepd[f.Arch])),
		layout.ProgramAt))
	s.Entrypoint = []string{path.Join(layout.ProgramAt, "sweepd")}
	s.Command = args
}

func (f Found) layout() layout.Root { return layout.Root(f.Root) }

func (c Cluster) brokerSpec(h Host, f Found, port int) docker.Spec {
	s := c.hardened(Broker, h, f)
	s.Image = c.BrokerImage
	s.Labels[ConfigLabel] = broker.Version()
	s.Hostname = "broker"
	s.Env = broker.Environment()
	s.Entrypoint, s.Command = broker.Command(metricsAlias)
	s.Mounts = append(s.Mounts,
		docker.Mount{Volume: c.volumeName(Broker), At: broker.Data},
		bindReadOnly(f.layout().Broker(), broker.Folder),
		docker.Mount{At: "/var/log/rabbitmq", Tmpfs: &docker.Tmpfs{Size: 16 << 20}})
	s.Ports = []docker.Port{{Port: port, Container: broker.Port}}
	s.Memory, s.Grace = brokerMemory, brokerGrace
	return s
}

// volumeName is the name of the volume of a role.
func (c Cluster) volumeName(role string) string { return c.Container(role) }

// Images are the references of what a host needs, of which Found.Images says which are there.
func (c Cluster) Images(h Host, f Found) (refs []string) {
	if h.Name == c.Master {
		refs = append(refs, c.BrokerImage, c.baseImage(f))
	}
	if h.Work != nil {
		refs = append(refs, c.workerRef(h, f))
	}
	return refs
}

// baseImage is what the containers of master and monitor are made of. Its tag has whatever it
// depends on.
func (c Cluster) baseImage(f Found) string {
	uid, gid := f.RunAs()
	return fmt.Sprintf("mlframework-%s:base-1-%s-%d-%d", c.Name, f.Arch, uid, gid)
}

func (c Cluster) masterSpec(h Host, f Found) docker.Spec {
	s := c.hardened(Master, h, f)
	s.Image = c.baseImage(f)
	s.Memory = masterMemory
	args := []string{"master", "--store", layout.StoreAt, "--socket", path.Join(layout.RunAt,
		layout.Socket),
		"--monitor-socket", path.Join(layout.ReadAt, layout.MonitorSocket),
		"--broker", fmt.Sprintf("amqps://%s:%d", Broker, broker.Port), "--broker-name",
		broker.ServerName,
		"--broker-metrics", fmt.Sprintf("http://%s:%d", Broker, broker.MetricsPort),
		"--credentials", path.Join(layout.SecretsAt, "credentials"), "--ca",
		path.Join(layout.SecretsAt, "ca.pem")}
	if c.Lease > 0 {
		args = append(args, "--lease", c.Lease.String())
	}
	c.program(&s, f, args...)
	s.Mounts = append(s.Mounts,
		docker.Mount{Volume: c.volumeName(Master), At: layout.StoreAt},
		bindReadOnly(f.layout().Master(), layout.SecretsAt),
		bind(f.layout().Run(), layout.RunAt),
		bind(f.layout().Read(), layout.ReadAt))
	return s
}

// monitorSpec is the monitor's container. Of the master it has the socket for the monitor alone: what a
// hole in the only program that browsers talk to gives away can be read, and nothing can be
// submitted through it.
func (c Cluster) monitorSpec(h Host, f Found, port int) docker.Spec {
	s := c.hardened(Monitor, h, f)
	s.Image = c.baseImage(f)
	s.Memory = monitorMemory
	args := []string{"monitor", "--master", path.Join(layout.ReadAt, layout.MonitorSocket), "--state",
		layout.StateAt, "--listen", fmt.Sprintf("0.0.0.0:%d", monitorPort), "--cluster", c.Name}
	published := docker.Port{Host: "127.0.0.1", Port: port, Container: monitorPort}
	if !c.Exposed {
		args = append(args, "--published-on-loopback")
	} else {
		published.Host = ""
		args = append(args, "--tls-cert", path.Join(layout.SecretsAt, broker.CertificateFile),
			"--tls-key", path.Join(layout.SecretsAt, broker.KeyFile))
		for _, name := range c.monitorNames(h, f) {
			args = append(args, "--host", name)
		}
		s.Mounts = append(s.Mounts, bindReadOnly(f.layout().Certificate(), layout.SecretsAt))
	}
	c.program(&s, f, args...)
	s.Ports = []docker.Port{published}
	s.Mounts = append(s.Mounts, bind(f.layout().Monitor(), layout.StateAt),
		bindReadOnly(f.layout().Read(), layout.ReadAt))
	return s
}

// monitorNames are those by which browsers on other machines come.
func (c Cluster) monitorNames(h Host, f Found) (names []string) {
	for _, name := range []string{h.Address.Name, f.Reached, c.Address} {
		if name != "" && name != host.LocalName && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
