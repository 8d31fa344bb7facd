package plan

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"mlframework/infra/broker"
)

// worker has a host's worker run as it is wanted.
func (m *maker) worker(h Host) {
	f := m.found[h.Name]
	runs := m.runs(h.Name, Worker)
	m.openFiles(h)
	switch {
	case !runs:
		m.startWorker(h, f)
	case m.outdated(h.Name, broker.WorkerUser(h.Name)):
		m.writeLogin(h)
	}
	add, title := m.addCheck, "wait until the worker has reported"
	if f.Drained {
		add, title = m.add, "have the worker take tasks again"
	}
	add(h.Name, stepReported, title, Reported{h.Name}, h.Name+"/"+Worker,
		m.reportedNeed(h.Name), m.Master+"/"+stepReady, m.openFilesNeed(h.Name))
	m.resize(h)
}

// openFiles brings a host the files of sweeps that are older than its worker, or that came to the
// other hosts while this one was not in the cluster: a worker that is still drained may be one that
// a call before, which was cut off, took into the cluster again.
func (m *maker) openFiles(h Host) {
	f := m.found[h.Name]
	_, there := f.role(m.Name, Worker)
	lacks := !there || f.Drained || f.Lacks || m.leaves(h.Name) ||
		m.givenUp(h.Name) // or may lack
	if f.Shares == "" && m.old.Version != 0 && lacks {
		m.add(h.Name, stepOpenFiles, "bring the files of open sweeps",
			Relay{m.found[m.Master].Revision}, append(m.needsBeforeContainers(h.Name), m.Master+"/"+
				stepReady)...)
	}
}

// openFilesNeed returns the step before which a host's worker is to take no tasks.
func (m *maker) openFilesNeed(host string) string {
	return cmp.Or(m.found[host].Shares, host) + "/" + stepOpenFiles
}

func (m *maker) startWorker(h Host, f Found) {
	l := f.layout()
	old, there := f.role(m.Name, Worker)
	m.writeLogin(h, m.loginNeed(h.Name)...)
	m.makeNetworks(h.Name)
	needs := append(m.needsBeforeContainers(h.Name), h.Name+"/"+stepLoginOfWorker, m.workerImage(h),
		m.Master+"/"+stepLogin, m.Master+"/"+stepUsers)
	at := m.reaches(h, f)
	if h.Name == m.Master {
		at = net.JoinHostPort("127.0.0.1", strconv.Itoa(m.brokerPort()))
	}
	m.addCheck(h.Name, stepReach, "reach the broker at "+at, Login{l.Sweepd(m.Sweepd[f.Arch]),
		l.Login(h.Name), at, reachLoginWait}, needs...)
	needs = append(needs, m.Master+"/"+stepReady)
	for _, o := range m.Hosts { // one that cannot be replaced keeps all others as they are
		needs = append(needs, o.Name+"/"+stepReach)
	}
	needs = append(needs, m.openFilesNeed(h.Name))
	if there && old.Running() {
		needs = append(needs, m.drain(h.Name, needs...)...)
	}
	title := fmt.Sprintf("start the worker, %d slots", h.slots(f))
	if h.slots(f) == 1 {
		title = "start the worker, 1 slot"
	}
	if n := len(gpuIDs(m.specs[h.Name+"/"+Worker].Devices)); n > 0 {
		title += ", " + countGPUs(n)
	}
	m.container(h, Worker, title, needs...)
}

// loginNeed returns what comes before the credentials of a worker whose container is there: with
// them it takes tasks. In a rotation the broker waits for its credentials.
func (m *maker) loginNeed(host string) []string {
	if _, there := m.found[host].role(m.Name, Worker); !there || m.rotating() {
		return nil
	}
	return []string{m.openFilesNeed(host)}
}

// writeLogin writes the credentials of a host's worker.
func (m *maker) writeLogin(h Host, needs ...string) {
	if !m.done[h.Name+"/"+stepLoginOfWorker] {
		m.add(h.Name, stepLoginOfWorker, "write the worker's credentials", m.workerLogin(h.Name),
			append(needs, h.Name+"/"+stepFolders, m.Master+"/"+stepSecrets)...)
	}
}

// workerLogin are the credentials of a host's worker.
func (m *maker) workerLogin(host string) Secrets {
	f := m.found[host]
	uid, gid := f.RunAs()
	return Secrets{Dir: f.layout().Login(host), For: broker.WorkerUser(host), UID: uid, GID: gid}
}

// reachLoginWait is how long a worker's host tries to log in at a broker that is up.
const reachLoginWait = 10 * time.Second

// workerRef is the image of a host's worker.
func (c Cluster) workerRef(h Host, f Found) string {
	if h.Work.Image != "" || c.Project.Build == "" {
		return cmp.Or(h.Work.Image, c.Project.Image)
	}
	return fmt.Sprintf("mlframework-%s:build-%s-%s", c.Name, c.Project.Revision, f.Arch)
}

// workerImage is the step that makes it available.
func (m *maker) workerImage(h Host) string {
	f := m.found[h.Name]
	ref := m.workerRef(h, f)
	if h.Work.Image != "" || m.Project.Build == "" {
		return m.image(h.Name, ref)
	}
	if m.has(h.Name, ref) {
		return ""
	}
	if first := m.builder(ref, f.Arch); first == h.Name {
		m.add(h.Name, stepImage, "build the image of "+m.Project.Build, Build{ref, m.Project.Build,
			m.labels("", h.Name)}, m.needsBeforeContainers(h.Name)...)
	} else {
		m.add(h.Name, stepImage, "get the image from "+first, Ship{ref, first}, first+"/"+stepImage)
	}
	return h.Name + "/" + stepImage
}

// builder is the first host of an architecture that has the image, or that builds it.
func (m *maker) builder(ref, arch string) string {
	var first string
	for _, h := range m.Hosts {
		f := m.found[h.Name]
		if h.Work == nil || f.Arch != arch {
			continue
		}
		if m.has(h.Name, ref) {
			return h.Name
		}
		first = cmp.Or(first, h.Name)
	}
	return first
}

// reaches is where a host's worker finds the broker. A worker that is there keeps its address while
// the host can still use it.
func (m *maker) reaches(h Host, f Found) string {
	name := m.Address
	if name == "" && len(f.Reaches) > 0 {
		name = f.Reaches[0]
		if old, ok := f.role(m.Name, Worker); ok && slices.Contains(f.Reaches,
			old.Labels[addressLabel]) {
			name = old.Labels[addressLabel]
		}
	}
	if name == "" {
		master, _ := m.host(m.Master)
		name = master.Address.Name
	}
	return net.JoinHostPort(name, strconv.Itoa(m.brokerPort()))
}

// BrokerName is the name under which a host's worker reaches the broker now; "" without a worker.
func (f Found) BrokerName(cluster string) string {
	worker, _ := f.role(cluster, Worker)
	return worker.Labels[addressLabel]
}

// addressLabel keeps where a worker's container reaches the broker, without the port.
const addressLabel = "mlframework.address"

// drain has a worker finish before its container goes.
func (m *maker) drain(host string, needs ...string) []string {
	if m.Now {
		return nil
	}
	title := "let the worker finish what runs"
	if now := m.found[host].tasksOf(); now != "" {
		title += ": " + now
	}
	m.add(host, stepDrain, title, Drain{Worker: host, Wait: m.DrainTime},
		append(needs, m.Master+"/"+stepReady)...)
	return []string{host + "/" + stepDrain}
}
