package plan

import (
	"slices"

	"mlframework/infra/broker"
)

// The broker has a user for the master and one for each worker. Three rules keep a change of users
// from being lost when infrainit is interrupted: the master's host records the wanted users before
// the broker is told (Logins.Pending), a worker's credentials are written before that record is
// cleared, and users are deleted only when no worker can need them any more.

// logins returns the users that the broker has now.
func (m *maker) logins() Logins { return m.found[m.Master].Logins }

// fresh reports whether the broker has no volume yet, and will start with its files alone.
func (m *maker) fresh() bool {
	return !slices.Contains(m.found[m.Master].Volumes, m.volumeName(Broker))
}

// usersAtLast returns the users that the broker has after the plan.
func (m *maker) usersAtLast() []string {
	users := []string{broker.Master}
	for _, h := range m.record(false).Hosts {
		user := broker.WorkerUser(h.Name)
		if h.Worker && (m.works(h.Name) || slices.Contains(m.logins().Users, user)) {
			users = append(users, user)
		}
	}
	slices.Sort(users)
	return users
}

// usersMeanwhile returns the users while the plan is carried out: the present and the wanted ones,
// without those of workers whose host leaves and is away. Those lose access at once.
func (m *maker) usersMeanwhile() []string {
	users := m.usersAtLast()
	for _, user := range m.logins().Users {
		away := slices.ContainsFunc(m.Away, func(host string) bool {
			return broker.WorkerUser(host) == user
		})
		if !away {
			users = append(users, user)
		}
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// works reports whether the host is to have a worker.
func (m *maker) works(host string) bool {
	h, wanted := m.host(host)
	return wanted && h.Work != nil
}

// usersChange reports whether the broker has to load its users anew.
func (m *maker) usersChange() bool {
	return m.logins().Pending || m.renews() || m.rotating() ||
		!slices.Equal(m.usersMeanwhile(), m.logins().Users)
}

// isNew reports whether a running worker may have credentials that the broker does not accept.
func (m *maker) isNew(host string) bool {
	user := broker.WorkerUser(host)
	return m.logins().Pending || m.outdated(host, user) || !slices.Contains(m.logins().Users, user)
}

// brokerFiles returns the action that writes the files that the broker's container mounts.
func (m *maker) brokerFiles(l Logins) Secrets {
	f := m.found[m.Master]
	uid, gid := f.RunAs()
	return Secrets{Dir: f.layout().Broker(), For: Broker, Logins: l, UID: uid, GID: gid}
}

// users has the broker load new users before their workers start.
func (m *maker) users() {
	if !m.usersChange() || m.fresh() { // a new broker reads its files when it starts
		return
	}
	needs := []string{m.Master + "/" + stepSecrets, m.Master + "/" + stepBrokerFiles, m.Master +
		"/" + Broker,
		m.Master + "/" + stepLogin}
	for _, h := range m.Hosts {
		if h.Work != nil && m.runs(h.Name, Worker) && m.isNew(h.Name) {
			m.writeLogin(h, m.loginNeed(h.Name)...)
			needs = append(needs, h.Name+"/"+stepLoginOfWorker)
		}
	}
	l := Logins{Users: m.usersMeanwhile()}
	title := "bring the broker's users up to date"
	do := Users{Container: m.Container(Broker), Logins: l, Back: m.usersBefore(),
		Files: m.brokerFiles(l), Close: m.rotating()}
	switch {
	case m.rotating():
		title = "have the broker take the new passwords and its certificate, and close all " +
			"connections"
		do.Back = nil
	case m.renews():
		title = "have the broker take its certificate"
	}
	m.add(m.Master, stepUsers, title, do, needs...)
	if m.rotating() {
		m.checkNewLogins()
	}
}

// usersBefore returns the users that a rollback leaves: without new ones that no container can have
// used. It returns nil if there are none of those.
func (m *maker) usersBefore() []string {
	all := m.usersMeanwhile()
	users := slices.DeleteFunc(slices.Clone(all), func(user string) bool {
		if slices.Contains(m.logins().Users, user) {
			return false
		}
		return slices.ContainsFunc(m.Hosts, func(h Host) bool {
			_, there := m.found[h.Name].role(m.Name, Worker)
			return broker.WorkerUser(h.Name) == user && !there
		})
	})
	if len(users) == len(all) {
		return nil
	}
	return users
}

// deleteOldUsers deletes the users of workers that left.
func (m *maker) deleteOldUsers() {
	last := m.usersAtLast()
	before := m.usersMeanwhile()
	if slices.Equal(last, before) {
		return
	}
	var needs []string
	for _, name := range m.others() {
		needs = append(needs, name+"/"+Worker, name+"/"+stepRemoveWorker)
	}
	files := m.brokerFiles(Logins{Users: last, Pending: true})
	needs = append(needs, m.Master+"/"+stepUsers, m.Master+"/"+stepLogin, m.Master+"/"+stepSecrets)
	m.add(m.Master, stepSecretsAtLast, "take out users of the broker that are not needed any more",
		files, needs...)
	l := Logins{Users: last}
	do := Users{Container: m.Container(Broker), Logins: l, Files: m.brokerFiles(l)}
	m.add(m.Master, stepUsersAtLast, "have the broker forget them", do,
		m.Master+"/"+stepSecretsAtLast)
}
