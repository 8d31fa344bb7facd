package plan

import "slices"

// leavers have what is not wanted any more taken off.
func (m *maker) leavers() {
	if m.Adds {
		return
	}
	left := m.away()
	for _, name := range m.others() {
		f := m.found[name]
		h, wanted := m.host(name)
		if !wanted && m.recorded(name).Outputs {
			continue
		}
		worker, works := f.role(m.Name, Worker)
		if works && (!wanted || h.Work == nil) {
			var needs []string
			if m.rotating() { // it comes back with its new password before it is waited for
				needs = append(needs, m.Master+"/"+stepUsers)
			}
			if worker.Running() {
				needs = append(m.drain(name, needs...), needs...)
			}
			title := "remove the worker"
			if now := f.tasksOf(); now != "" && m.Now {
				title += ", which stops " + now
			}
			m.add(name, stepRemoveWorker, title, Remove{worker.ID, workerGrace}, needs...)
			m.add(name, "forget", "forget the worker "+name, Forget{name},
				name+"/"+stepRemoveWorker, m.Master+"/"+stepReady)
		}
		for _, role := range []string{Monitor, Master, Broker} {
			if o, there := f.role(m.Name, role); there && name != m.Master {
				m.add(name, "remove "+role, "remove the "+role, Remove{o.ID, shortGrace})
			}
		}
		if _, reached := m.found[name]; !wanted && reached {
			left = append(left, name+"/"+stepClear)
			m.add(name, stepClear, "remove network and images",
				Clear{map[string]string{ClusterLabel: m.Name}},
				name+"/"+stepRemoveWorker, name+"/remove monitor", name+"/remove master",
				name+"/remove broker")
		}
	}
	title := "note who is left"
	for _, h := range m.Hosts {
		if m.resizes(h) {
			title = "save the cluster's record again"
			left = append(left, h.Name+"/"+stepSlots)
		}
	}
	m.keep(m.record(false), stepRecordAtLast, title,
		append(left, m.Master+"/"+stepRecord)...)
}

// away has the workers of hosts that leave and cannot be reached take nothing more, and gives what
// the record waits for.
func (m *maker) away() (before []string) {
	for _, o := range m.old.Hosts {
		if !slices.Contains(m.Away, o.Name) {
			continue
		}
		drain, forget := "no more for "+o.Name, "forget "+o.Name
		if o.Worker {
			m.add(m.Master, drain, "have the worker of "+o.Name+" take nothing more",
				Drain{Worker: o.Name, Wait: m.DrainTime, Now: m.Now}, m.Master+"/"+stepReady)
		}
		if m.GiveUp {
			m.add(m.Master, forget, "forget the worker "+o.Name, Forget{o.Name}, m.Master+"/"+drain,
				m.Master+"/"+stepReady)
		}
		before = append(before, m.Master+"/"+drain, m.Master+"/"+forget)
	}
	return before
}

// leaves reports whether a host was away when it was to leave.
func (m *maker) leaves(host string) bool { return m.recorded(host).Leaves }

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
