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
	switch {
	case !runs:
		m.startWorker(h, f)
	case m.outdated(h.Name, broker.WorkerUser(h.Name)):
		m.writeLogin(h)
	}
	if m.left(h.Name) || runs && m.givenUp(h.Name) {
		m.add(h.Name, "resume", "have the worker take tasks again", Resume{h.Name}, m.Master+"/ready")
	}
	m.look(h.Name, "reported", "wait until the worker has reported", Reported{h.Name}, h.Name+"/"+Worker,
		m.reportedNeed(h.Name), m.Master+"/ready")
	m.resize(h)
}

func (m *maker) startWorker(h Host, f Found) {
	l := f.layout()
	old, there := f.role(m.Name, Worker)
	// A worker of an earlier release that connects again as its own user may not do what it does: it keeps the user that
	// all shared until it has ended, and the broker is reached as that one.
	late := there && old.Running() && old.Labels[LoginLabel] == ""
	needs := m.brought(h.Name)
	if !late {
		m.writeLogin(h)
		needs = append(needs, h.Name+"/login of worker")
	}
	m.makeNetworks(h.Name)
	needs = append(needs, m.workerImage(h), m.Master+"/login", m.Master+"/users")
	at := m.reaches(h, f)
	if h.Name == m.Master {
		at = net.JoinHostPort("127.0.0.1", strconv.Itoa(m.brokerPort()))
	}
	m.look(h.Name, "reach", "reach the broker at "+at, Login{l.Sweepd(m.Sweepd[f.Arch]), l.Login(h.Name), at, reachWait}, needs...)
	needs = append(needs, m.Master+"/ready")
	for _, o := range m.Hosts { // one that cannot be replaced keeps all others as they are
		needs = append(needs, o.Name+"/reach")
	}
	if !there && m.old.Version != 0 && f.Shares == "" { // sweeps run that are older than this worker
		m.add(h.Name, "open files", "bring the files of open sweeps", Relay{f.Root,
			m.found[m.Master].Revision},
			append(m.brought(h.Name), m.Master+"/ready")...)
		needs = append(needs, h.Name+"/open files")
	}
	if there && old.Running() {
		needs = append(needs, m.drain(h.Name, needs...)...)
	}
	if late {
		m.writeLogin(h, needs...)
		needs = append(needs, h.Name+"/login of worker")
	}
	title := fmt.Sprintf("start the worker, %d slots", h.slots(f))
	if h.slots(f) == 1 {
		title = "start the worker, 1 slot"
	}
	m.container(h, Worker, title, needs...)
}

// writeLogin writes the credentials of a host's worker.
func (m *maker) writeLogin(h Host, needs ...string) {
	if !m.done[h.Name+"/login of worker"] {
		m.add(h.Name, "login of worker", "write the worker's credentials", m.workerLogin(h.Name),
			append(needs, h.Name+"/folders", m.Master+"/secrets")...)
	}
}

// workerLogin are the credentials of a host's worker.
func (m *maker) workerLogin(host string) Secrets {
	f := m.found[host]
	uid, gid := f.RunAs()
	return Secrets{Dir: f.layout().Login(host), For: broker.WorkerUser(host), UID: uid, GID: gid}
}

// reachWait is how long a worker's host tries to log in at a broker that is up.
const reachWait = 10 * time.Second

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
	m.learn(h.Name, "image", ref)
	if first := m.builder(ref, f.Arch); first == h.Name {
		m.add(h.Name, "image", "build the image of "+m.Project.Build, Build{ref, m.Project.Build, m.labels("", h.Name)}, m.brought(h.Name)...)
	} else {
		m.add(h.Name, "image", "get the image from "+first, Ship{ref, first}, first+"/image")
	}
	return h.Name + "/image"
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

// reaches is where a host's worker finds the broker. A worker that is there keeps its address while the host can still use it.
func (m *maker) reaches(h Host, f Found) string {
	name := m.Address
	if name == "" && len(f.Reaches) > 0 {
		name = f.Reaches[0]
		if old, ok := f.role(m.Name, Worker); ok && slices.Contains(f.Reaches, old.Labels[addressLabel]) {
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
	m.add(host, "drain", title, Drain{host, m.DrainTime}, append(needs, m.Master+"/ready")...)
	return []string{host + "/drain"}
}

// leavers have what is not wanted any more taken off.
func (m *maker) leavers() {
	if m.Adds {
		return
	}
	left := m.away()
	for _, name := range m.others() {
		f := m.found[name]
		h, wanted := m.host(name)
		worker, works := f.role(m.Name, Worker)
		if works && (!wanted || h.Work == nil) {
			var needs []string
			if m.turns() { // it comes back with its new password before it is waited for
				needs = append(needs, m.Master+"/users")
			}
			if worker.Running() {
				needs = append(m.drain(name, needs...), needs...)
			}
			title := "remove the worker"
			if now := f.tasksOf(); now != "" && m.Now {
				title += ", which stops " + now
			}
			m.add(name, "remove worker", title, Remove{worker.ID, workerGrace}, needs...)
			m.add(name, "forget", "forget the worker "+name, Forget{name}, name+"/remove worker", m.Master+"/ready")
		}
		for _, role := range []string{Monitor, Master, Broker} {
			if o, there := f.role(m.Name, role); there && name != m.Master {
				m.add(name, "remove "+role, "remove the "+role, Remove{o.ID, shortGrace})
			}
		}
		if _, reached := m.found[name]; !wanted && reached {
			left = append(left, name+"/clear")
			m.add(name, "clear", "remove network and images", Clear{map[string]string{ClusterLabel: m.Name}},
				name+"/remove worker", name+"/remove monitor", name+"/remove master", name+"/remove broker")
		}
	}
	title := "note who is left"
	for _, h := range m.Hosts {
		if m.resizes(h) {
			title = "save the cluster's record again"
			left = append(left, h.Name+"/slots")
		}
	}
	m.keep(m.record(false), "record at last", title,
		append(left, m.Master+"/record")...)
}

// away has the workers of hosts that leave and cannot be reached take nothing more, and gives what the record waits for.
func (m *maker) away() (before []string) {
	for _, o := range m.old.Hosts {
		if !slices.Contains(m.Away, o.Name) {
			continue
		}
		drain, forget := "no more for "+o.Name, "forget "+o.Name
		if o.Worker {
			m.add(m.Master, drain, "have the worker of "+o.Name+" take nothing more", Drain{o.Name, m.DrainTime}, m.Master+"/ready")
		}
		if m.GiveUp {
			m.add(m.Master, forget, "forget the worker "+o.Name, Forget{o.Name}, m.Master+"/"+drain, m.Master+"/ready")
		}
		before = append(before, m.Master+"/"+drain, m.Master+"/"+forget)
	}
	return before
}

// left tells whether a host was away when it was to leave.
func (m *maker) left(host string) bool { return m.recorded(host).Leaves }

// givenUp reports whether the cluster has forgotten a host that it had.
func (m *maker) givenUp(host string) bool {
	return m.old.Version != 0 && m.recorded(host).Name == ""
}

// others are all hosts that were looked at, those that are wanted first.
func (m *maker) others() []string {
	var names []string
	for _, h := range m.Hosts {
		names = append(names, h.Name)
	}
	for _, o := range m.old.Hosts {
		if _, there := m.found[o.Name]; there && !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
		}
	}
	return names
}
