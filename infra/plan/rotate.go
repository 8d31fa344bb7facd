package plan

import (
	"net"
	"slices"
	"strconv"

	"mlframework/infra/broker"
	"mlframework/infra/layout"
)

// A rotation replaces every password and certificate while sweeps run. The master's host keeps the
// wanted secrets: they change first, then the credentials on all hosts, which trust two authorities
// from then on. Only then does the broker load its new files and close all connections: clients
// read their credentials again when they reconnect. Finally, the previous authority is removed.
//
// A call that is cut off before the broker has changed leaves connections that go on, and one
// after that hosts that can come back; the next call finds which credentials are outdated
// (Found.Outdated) and what is to be finished (NeedsRenewal.Rotation).

// MonitorToken is the value of Secrets.For with which a new token of the monitor is made.
const MonitorToken = "monitor token"

// CheckRotation finds a rotation that keeps hosts from joining a cluster: they would have the
// broker take the new passwords, which the other hosts may not have yet.
func CheckRotation(c Cluster, found map[string]Found) Problems {
	if c.Adds && found[c.Master].NeedsRenewal.Rotation {
		return Problems{{Host: c.Master,
			What:   "the rotation of the passwords of its cluster " + c.Name + " was cut off",
			Remedy: "finish it where the cluster was brought up: infrainit -f; then join"}}
	}
	return nil
}

// Rotates reports whether passwords and certificates are made anew, or a rotation that was cut off
// goes on.
func (p Plan) Rotates() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { _, is := s.Do.(Finish); return is })
}

// LeftBehind returns the hosts whose worker stays in the cluster and was not reached: it has
// neither the passwords of a rotation nor the project's files of now.
func LeftBehind(c Cluster, found map[string]Found, old layout.Record) (hosts []string) {
	for _, h := range old.Hosts {
		if _, reached := found[h.Name]; h.Worker && !reached && !h.Leaves &&
			!slices.Contains(c.Away, h.Name) {
			hosts = append(hosts, h.Name)
		}
	}
	return hosts
}

func (m *maker) needsRenewal() Renewal { return m.found[m.Master].NeedsRenewal }

// startsRotation reports whether everything is made anew.
func (m *maker) startsRotation() bool {
	return (m.Rotate || m.needsRenewal().Authority) && !m.Adds && !m.fresh() &&
		len(m.logins().Users) > 0
}

// rotating reports whether a rotation is under way: one that begins, or one that was cut off.
func (m *maker) rotating() bool {
	return m.startsRotation() || m.needsRenewal().Rotation && !m.fresh()
}

// renews reports whether the broker gets another certificate from the same authority.
func (m *maker) renews() bool { return m.needsRenewal().Certificate && !m.rotating() && !m.Adds }

// outdated reports whether a host has other credentials of a user than it is to have.
func (m *maker) outdated(host, user string) bool {
	return m.rotating() || slices.Contains(m.found[host].Outdated, user)
}

// rotate adds the steps of a rotation up to writing the broker's files.
func (m *maker) rotate(l Logins) {
	master := m.Master
	if m.startsRotation() {
		m.add(master, stepSecrets, "make new passwords and certificates", Rotate{l}, master+"/"+
			stepFolders)
	}
	needs := []string{master + "/" + stepSecrets, master + "/" + stepCredentials}
	for _, name := range m.others() {
		if _, there := m.found[name].role(m.Name, Worker); there && m.keepsUser(name) {
			m.writeLogin(Host{Name: name})
			needs = append(needs, name+"/"+stepLoginOfWorker)
		}
	}
	m.add(master, stepBrokerFiles, "write the broker's secrets", m.brokerFiles(l), needs...)
}

// keepsUser reports whether the worker of a host has its user while the plan is carried out.
func (m *maker) keepsUser(host string) bool {
	return slices.Contains(m.usersMeanwhile(), broker.WorkerUser(host))
}

// checkNewLogins adds steps that check whether master and workers can log in with their new
// credentials, and trust the broker's certificate.
func (m *maker) checkNewLogins() {
	f := m.found[m.Master]
	program := f.layout().Sweepd(m.Sweepd[f.Arch])
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(m.brokerPort()))
	m.addCheck(m.Master, stepLoginAgain, "wait until the broker takes the master's new password",
		Login{program, f.layout().Master(), at, loginWait}, m.Master+"/"+stepUsers, m.Master+"/"+
			stepSweepd)
	for _, h := range m.Hosts {
		if h.Work == nil || !m.runs(h.Name, Worker) {
			continue // one that is started is checked before
		}
		f, at := m.found[h.Name], at
		if h.Name != m.Master {
			at = m.reaches(h, f)
		}
		m.addCheck(h.Name, stepReach, "reach the broker at "+at+" with the new password",
			Login{f.layout().Sweepd(m.Sweepd[f.Arch]), f.layout().Login(h.Name), at,
				reachLoginWait},
			m.Master+"/"+stepUsers, h.Name+"/"+stepSweepd)
	}
}

// reportedNeed returns the step after which a worker that is not restarted can report; "" if there
// is none.
func (m *maker) reportedNeed(host string) string {
	switch {
	case !m.runs(host, Worker):
		return ""
	case m.rotating():
		return host + "/" + stepReach
	case m.outdated(host, broker.WorkerUser(host)):
		return host + "/" + stepLoginOfWorker
	}
	return ""
}

// monitor adds the steps of the monitor, with its certificate and its token.
func (m *maker) monitor(h Host, needs []string) {
	f := m.found[h.Name]
	l := f.layout()
	uid, gid := f.RunAs()
	runs := m.runs(h.Name, Monitor)
	certified := m.Exposed && (!runs || m.needsRenewal().Monitor || m.rotating())
	if m.Adds {
		return
	}
	if certified {
		m.add(h.Name, stepCertificate, "write the monitor's certificate",
			Secrets{Dir: l.Certificate(), For: Monitor, Names: m.monitorNames(h, f), UID: uid,
				GID: gid}, h.Name+"/"+stepFolders, h.Name+"/"+stepSecrets)
		needs = append(needs, h.Name+"/"+stepCertificate)
	}
	if m.rotating() {
		m.add(h.Name, stepToken, "make a new token of the monitor",
			Secrets{Dir: l.Monitor(), For: MonitorToken, UID: uid, GID: gid}, h.Name+"/"+
				stepFolders,
			h.Name+"/"+stepUsers)
		needs = append(needs, h.Name+"/"+stepToken)
	}
	if runs && m.rotating() { // for its token: it reads a renewed certificate by itself
		m.add(h.Name, Monitor, "restart the monitor", Restart{m.Container(Monitor), shortGrace},
			needs...)
		return
	}
	m.container(h, Monitor, "start the monitor", needs...)
}

// finish adds the last steps of a rotation.
func (m *maker) finish() {
	if !m.rotating() {
		return
	}
	needs := []string{m.Master + "/" + stepUsers, m.Master + "/" + stepLoginAgain, m.Master + "/" +
		stepUsersAtLast,
		m.Master + "/" + Monitor}
	for _, name := range m.others() {
		needs = append(needs, name+"/"+stepReach, name+"/"+stepRemoveWorker)
	}
	m.add(m.Master, stepFinish, "forget the certificates of before", Finish{}, needs...)
	f := m.found[m.Master]
	uid, gid := f.RunAs()
	const title = "trust the new certificates alone"
	login := Secrets{Dir: f.layout().Master(), For: broker.Master, UID: uid, GID: gid}
	m.add(m.Master, "trust", title, login, m.Master+"/"+stepFinish, m.Master+"/"+stepCredentials)
	for _, h := range m.Hosts {
		if h.Work != nil {
			m.add(h.Name, "trust of worker", title, m.workerLogin(h.Name), m.Master+"/"+stepFinish,
				h.Name+"/"+stepLoginOfWorker, h.Name+"/"+Worker)
		}
	}
}
