package plan

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// Ports from which on a free one is taken.
const (
	firstBroker  = broker.Port
	firstMonitor = 5555
	monitorPort  = 5555 // within the container
	portTries    = 100
)

// loginWait is how long a broker may take to come up: a slow machine's first start.
const loginWait = 90 * time.Second

// Make gives the steps from what was found to what is wanted. Every wanted host is found and has no
// fault; the master's is among them. Old is the record that the master's host has; zero is none.
// Found may hold more hosts: those of old that are not wanted any more.
func Make(c Cluster, found map[string]Found, old layout.Record) Plan {
	m := newMaker(c, found, old)
	return Plan{Steps: ordered(m.steps), Before: m.record(true), Record: m.record(false),
		Changes: m.changes, Images: m.images}
}

// newMaker has all steps of a plan, in no order.
func newMaker(c Cluster, found map[string]Found, old layout.Record) *maker {
	m := &maker{Cluster: c, found: found, old: old, done: map[string]bool{}, kept: old,
		first: map[string]string{}}
	m.pin()
	m.specs = m.wanted()
	for _, h := range c.Hosts {
		if h.Name != m.Master {
			m.addFiles(h)
		}
	}
	h, _ := m.host(m.Master)
	m.addFiles(h)
	m.keep(m.record(true), stepRecord, "save the cluster's record", m.Master+"/"+stepFolders)
	m.master()
	m.users()
	for _, h := range c.Hosts {
		if h.Work != nil {
			m.worker(h)
		}
	}
	m.leftovers()
	m.leavers()
	m.deleteOldUsers()
	m.finish()
	m.recordImages()
	return m
}

type maker struct {
	Cluster
	found   map[string]Found
	old     layout.Record
	specs   map[string]docker.Spec // of every container that is wanted, by "HOST/ROLE"
	steps   []Step
	done    map[string]bool // ids of steps that are in the plan
	kept    layout.Record   // what the record is by then
	changes bool
	images  []string // as Plan has them
	// of references: for what they stand, as far as it is known
	pins map[string]layout.RecordImage
	// of references: the step that decides for what they stand
	first map[string]string
	gets  []string // steps that get an image, which may tell more of it
}

// wanted are the specs of all containers.
func (m *maker) wanted() map[string]docker.Spec {
	specs := map[string]docker.Spec{}
	for _, h := range m.Hosts {
		f := m.found[h.Name]
		if h.Name == m.Master && !m.Adds { // whoever adds workers leaves the rest as it is
			specs[h.Name+"/"+Broker] = m.brokerSpec(h, f, m.brokerPort())
			specs[h.Name+"/"+Master] = m.masterSpec(h, f)
			specs[h.Name+"/"+Monitor] = m.monitorSpec(h, f, m.monitorPort())
		}
		if h.Work != nil {
			specs[h.Name+"/"+Worker] = m.workerWanted(h, f)
		}
	}
	return specs
}

// runs tells whether a container runs as it is wanted, or is not wanted.
func (m *maker) runs(host, role string) bool {
	spec, wanted := m.specs[host+"/"+role]
	old, there := m.found[host].role(m.Name, role)
	return !wanted || there && old.Hash == spec.Hash() && old.Running() && m.madeOf(host, old)
}

// settled tells whether there is nothing to do for a host's containers.
func (m *maker) settled(host string) bool {
	return m.found[host].Marker != nil && m.runs(host, Broker) && m.runs(host, Master) &&
		m.runs(host, Monitor) && m.runs(host, Worker)
}

// addCheck adds a step that changes nothing. It may need steps that are added later. Of what it
// needs, only what is in the plan in the end counts: the rest is there already.
func (m *maker) addCheck(host, what, title string, do Action, needs ...string) {
	id := host + "/" + what
	m.steps = append(m.steps, Step{ID: id, Host: host, Title: title,
		Needs: slices.Clone(needs), Do: do})
	m.done[id] = true
}

// ordered puts each step behind those that it needs, and else leaves the order as it is. Needs
// that are not among the steps, as there is nothing to do for them, and those that are named twice,
// go.
func ordered(steps []Step) []Step {
	index := map[string]int{}
	for i, s := range steps {
		index[s.ID] = i
	}
	all := make([]Step, 0, len(steps))
	placed := make([]bool, len(steps))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		s := steps[i]
		s.Needs = nil
		for _, need := range steps[i].Needs {
			if j, there := index[need]; there && !slices.Contains(s.Needs, need) {
				place(j)
				s.Needs = append(s.Needs, need)
			}
		}
		all = append(all, s)
	}
	for i := range steps {
		place(i)
	}
	return all
}

// add adds a step that changes something.
func (m *maker) add(host, what, title string, do Action, needs ...string) {
	m.addCheck(host, what, title, do, needs...)
	m.changes = true
}

// addFiles makes a host's folders, and brings program and files to each home folder once.
func (m *maker) addFiles(h Host) {
	f := m.found[h.Name]
	l := f.layout()
	if !m.settled(h.Name) {
		m.add(h.Name, stepFolders, "make the folder "+f.Root, m.folders(h, f), f.Shares+"/"+
			stepFolders)
	}
	if hash := m.Sweepd[f.Arch]; f.Shares == "" && !slices.Contains(f.Binaries, hash) {
		m.add(h.Name, stepSweepd, strings.TrimSpace("bring sweepd "+m.Program),
			Sweepd{l.Sweepd(hash)}, h.Name+"/"+stepFolders)
	}
	if f.Shares == "" && m.Project.Revision != "" && f.Revision != m.Project.Revision &&
		(!m.Adds || h.Work != nil) && !m.holdsBack(h) {
		m.add(h.Name, stepFiles, "bring the project's files", Files{}, m.filesNeed(h)...)
	}
}

// masterHome is the first host that has the home folder of the master's host.
func (m *maker) masterHome() string { return cmp.Or(m.found[m.Master].Shares, m.Master) }

// holdsBack reports whether the project's files do not come to a host: to the home folder of the
// master's host by a call that joins, which brings them to its workers only.
func (m *maker) holdsBack(h Host) bool { return m.Adds && h.Name == m.masterHome() }

// filesNeed are the steps before the project's files come to a host. The home folder of the
// master's host is last, so that every worker that was reached has the revision that is in force.
func (m *maker) filesNeed(h Host) []string {
	needs := []string{h.Name + "/" + stepSweepd}
	if h.Name == m.masterHome() {
		for _, o := range m.Hosts {
			if o.Name != h.Name {
				needs = append(needs, o.Name+"/"+stepFiles)
			}
		}
	}
	return needs
}

func (m *maker) folders(h Host, f Found) Folders {
	l := f.layout()
	folders := Folders{Root: f.Root, Names: []string{l.Releases()}, Owner: m.Owner, Cluster: m.Name,
		UID: -1, GID: -1}
	if f.UID == 0 {
		folders.UID, folders.GID = f.RunAs()
	}
	if h.Name == m.Master {
		folders.Names = append(folders.Names, l.Authority(), l.Master(), l.Monitor(), l.Broker(),
			l.Run(), l.Read())
	}
	if h.Work != nil {
		folders.Names = append(folders.Names, l.Outputs(h.Name), l.State(h.Name), l.Home(h.Name),
			l.Login(h.Name))
	}
	return folders
}

// needsBeforeContainers are the steps before which no container that is ours can start on a host.
func (m *maker) needsBeforeContainers(host string) []string {
	first := cmp.Or(m.found[host].Shares, host)
	needs := append([]string{host + "/" + stepFolders, first + "/" + stepSweepd, first + "/" +
		stepFiles}, m.networksNeed(host)...)
	return append(needs, m.Master+"/"+stepRecord)
}

// container starts a container, unless it runs as it is wanted.
func (m *maker) container(h Host, role, title string, needs ...string) {
	if m.runs(h.Name, role) {
		return
	}
	spec := m.specs[h.Name+"/"+role]
	old, there := m.found[h.Name].role(m.Name, role)
	if there && old.Hash == spec.Hash() && old.State == "exited" && old.Name == spec.Name &&
		m.madeOf(h.Name, old) {
		title = "start the stopped " + strings.TrimPrefix(title, "start the ")
		m.add(h.Name, role, title, Start{old.Name}, needs...)
		return
	}
	run := Run{Spec: spec}
	if there {
		run.Replace, run.Grace = old.ID, spec.Grace
		why := differences(old, spec, m.found[h.Name].GPUs.GPUs)
		if !m.madeOf(h.Name, old) && old.Image == spec.Image {
			why = append(why, m.moved(h.Name, old))
		}
		if len(why) == 0 {
			why = []string{"it is " + old.State}
		}
		title = "re" + title + " (" + strings.Join(why, "; ") + ")"
		if now := m.found[h.Name].tasksOf(); now != "" && role == Worker && m.Now {
			title += ", which stops " + now
		}
	}
	if role == Worker {
		run.Image = "--image"
		m.noteImage(h.Name, old, spec.Image)
	}
	m.add(h.Name, role, title, run, needs...)
}

// leftovers removes containers that were set aside by a call that was killed before it removed
// them.
func (m *maker) leftovers() {
	for _, h := range m.Hosts {
		for _, o := range m.found[h.Name].Containers {
			role := o.Labels[RoleLabel]
			if o.Labels[ClusterLabel] != m.Name || o.Name != m.Container(role)+ReplacedSuffix {
				continue
			}
			if now, _ := m.found[h.Name].role(m.Name, role); now.ID != o.ID {
				m.add(h.Name, "replaced "+role, "remove the "+role+" that was replaced",
					Remove{o.ID, shortGrace}, h.Name+"/"+role)
			}
		}
	}
}

// master is broker, master and monitor.
func (m *maker) master() {
	h, _ := m.host(m.Master)
	f := m.found[h.Name]
	l := f.layout()
	uid, gid := f.RunAs()
	image, login, base := "", "", h.Name+"/"+stepBase
	logins := Logins{Users: m.usersMeanwhile(), Pending: m.usersChange() && !m.fresh()}
	switch {
	case m.rotating():
		m.rotate(logins)
	case !m.runs(h.Name, Broker) || !m.runs(h.Name, Master) || m.usersChange():
		title, files := "write the broker's secrets", m.brokerFiles(logins)
		if files.Renew = m.renews(); files.Renew {
			title = "make a new certificate of the broker"
		}
		m.add(h.Name, stepSecrets, title, files, h.Name+"/"+stepFolders)
	}
	if !m.runs(h.Name, Broker) || !m.runs(h.Name, Master) || m.outdated(h.Name, broker.Master) {
		m.add(h.Name, stepCredentials, "write the master's credentials", Secrets{Dir: l.Master(),
			For: broker.Master, UID: uid, GID: gid}, h.Name+"/"+stepSecrets)
	}
	if !m.settled(h.Name) {
		m.makeNetworks(h.Name)
	}
	if !m.runs(h.Name, Broker) {
		m.volume(h, f, Broker)
		image = m.image(h.Name, m.BrokerImage)
		old, there := f.role(m.Name, Broker)
		if !there || old.Image != m.BrokerImage || !m.madeOf(h.Name, old) {
			m.addCheck(h.Name, stepBrokerImage, "look whether "+m.BrokerImage+
				" can be the broker's",
				CheckBroker{m.BrokerImage}, image)
			image = h.Name + "/" + stepBrokerImage
		}
		login = h.Name + "/" + stepLogin
	}
	m.container(h, Broker, "start the broker",
		append(m.networksNeed(h.Name), h.Name+"/"+stepSecrets, h.Name+"/"+stepBrokerFiles, image,
			h.Name+"/volume "+Broker, m.Master+"/"+stepRecord)...)
	if login != "" {
		do := Login{l.Sweepd(m.Sweepd[f.Arch]), l.Master(), net.JoinHostPort("127.0.0.1",
			strconv.Itoa(m.brokerPort())), loginWait}
		m.addCheck(h.Name, stepLogin, "wait until the broker takes logins", do, h.Name+"/"+Broker,
			h.Name+"/"+stepSweepd, h.Name+"/"+stepCredentials)
	}
	if ref := m.baseImage(f); !(m.runs(h.Name, Master) && m.runs(h.Name, Monitor)) && !m.has(h.Name,
		ref) {
		m.add(h.Name, stepBase, "make the image of master and monitor", Base{ref, f.User, uid, gid,
			m.labels("", h.Name)})
	}
	if !m.runs(h.Name, Master) {
		m.volume(h, f, Master)
	}
	needs := append(m.needsBeforeContainers(h.Name), base, h.Name+"/volume "+Master, h.Name+"/"+
		stepCredentials)
	m.container(h, Master, "start the master", append(needs, login)...)
	m.monitor(h, needs)
	m.addCheck(h.Name, stepReady, "wait until the master is ready", Ready{}, h.Name+"/"+Master,
		login)
}

func (m *maker) volume(h Host, f Found, role string) {
	if name := m.volumeName(role); !slices.Contains(f.Volumes, name) {
		m.add(h.Name, "volume "+role, "make the volume of the "+role,
			Volume{name, m.labels(role, h.Name)})
	}
}
