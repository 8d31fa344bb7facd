package process

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// members returns all processes that came from the program.
func (r *run) members() (pids []int) {
	all := snapshot()
	heads := descendants(all, r.k.pid)
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	r.k.updateAdopted(false)
	for pid, head := range heads {
		p := all[pid]
		together := (p.session == r.pid || p.group == r.pid) && pid != r.pid
		if r.k.owns(r, head) || r.k.roots[head] == nil && together {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// terminate sends SIGTERM to every process of the run that has not had it, and SIGCONT in case it
// is stopped.
func (r *run) terminate() {
	first := r.gotTerm == nil
	if first {
		r.gotTerm = map[int]bool{}
	}
	members := slices.DeleteFunc(r.members(), func(pid int) bool { return r.gotTerm[pid] })
	group := r.inGroup(members)
	if first && len(group) > 0 {
		_ = unix.Kill(-r.pid, unix.SIGTERM) // at once for the whole group: no fork can slip between
	}
	for _, pid := range members {
		r.gotTerm[pid] = true
		if first && group[pid] {
			r.countOutlived(pid)
		} else {
			r.send(pid, unix.SIGTERM)
		}
		_ = unix.Kill(pid, unix.SIGCONT)
	}
}

// kill sends SIGKILL to every process of the run. If a tree forks faster than /proc can be walked,
// its cgroup is killed, and its heads, the children of this process: listing those takes
// microseconds.
func (r *run) kill() {
	members := r.members()
	group := r.inGroup(members)
	if len(group) > 0 {
		_ = unix.Kill(-r.pid, unix.SIGKILL)
	}
	for _, pid := range members {
		if group[pid] { // it may be dead and reaped by now
			r.countOutlived(pid)
		}
		r.send(pid, unix.SIGKILL)
	}
	if r.group != nil {
		r.group.kill()
	}
	killed := map[int]bool{}
	for range 100 {
		heads := r.k.remaining(r, false)
		heads = slices.DeleteFunc(heads, func(pid int) bool { return killed[pid] })
		if len(heads) == 0 {
			return
		}
		for _, pid := range heads {
			killed[pid] = true
			r.send(pid, unix.SIGKILL)
		}
	}
}

// inGroup returns those of pids, which are ours, that are in the program's process group. If there
// are none, the number of the group may have been reused.
func (r *run) inGroup(pids []int) map[int]bool {
	in := map[int]bool{}
	for _, pid := range pids {
		if group, err := unix.Getpgid(pid); err == nil && group == r.pid {
			in[pid] = true
		}
	}
	return in
}

func (r *run) send(pid int, sig syscall.Signal) {
	if unix.Kill(pid, sig) == nil {
		r.countOutlived(pid)
	}
}

// countOutlived counts a process that got a signal because it outlived the program.
func (r *run) countOutlived(pid int) {
	if !r.reaped {
		return
	}
	if r.outlived == nil {
		r.outlived = map[int]bool{}
	}
	r.outlived[pid] = true
}

// recordUnkillable records what SIGKILL did not end.
func (r *run) recordUnkillable() {
	r.exit.Unkillable = r.members()
	r.k.log.Error("processes do not end", "program", r.spec.Argv[0], "pids", r.exit.Unkillable,
		"after",
		unkillableAfter)
}
