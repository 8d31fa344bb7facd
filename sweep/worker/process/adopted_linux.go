package process

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// adoptedProcess is a child of this process that Run did not start: its parent has ended. Its pid
// cannot be reused until updateAdopted reaps it.
type adoptedProcess struct {
	owner *run
	// without an owner: the programs that ran when it was born and still run
	possibleOwners []*run
	// not 0: it may be a program that is being started, by a fork of this number or an earlier one
	pendingFork uint64
	firstSeen   time.Time
	// a program that may own it has ended
	ownerEnded bool
	// not before: see killAbandoned
	nextKill time.Time
	// between two attempts to kill it
	pause time.Duration
}

// updateAdopted brings the table of adopted processes up to date: it reaps the dead and finds the
// owners of new ones. Call it with k.mu held.
//
// A process that ends between the listing and its reaping has handed its own children to this
// process in between, so after every reaping the children are listed again. If a tree keeps
// forking, the dead are left for the next time.
func (k *Keeper) updateAdopted(wide bool) {
	for range 100 {
		if !k.updateAdoptedOnce(wide, true) {
			return
		}
	}
	k.updateAdoptedOnce(wide, false)
}

func (k *Keeper) updateAdoptedOnce(wide, reap bool) (reaped bool) {
	children := k.childrenOf(wide)
	for pid, s := range k.adopted {
		if !slices.Contains(children, pid) && (wide || s.pendingFork > 0 ||
			unix.Kill(pid, 0) == unix.ESRCH) {
			delete(k.adopted, pid) // it was a program after all, and has been reaped
		}
	}
	for _, pid := range children {
		if k.roots[pid] != nil {
			delete(k.adopted, pid) // it was in doubt
			continue
		}
		s := k.adopted[pid]
		if s == nil || s.owner == nil { // look again: amid execve a process shows no environment
			if s = k.classify(pid, s); s == nil {
				continue
			}
			k.adopted[pid] = s
		}
		if reap && s.pendingFork == 0 && k.reap(pid) {
			delete(k.adopted, pid)
			reaped = true
		}
	}
	return reaped
}

// classify finds the owner of a child whose owner is not known. It returns nil for a child that
// must not be touched.
func (k *Keeper) classify(pid int, s *adoptedProcess) *adoptedProcess {
	sid, err := unix.Getsid(pid)
	if err != nil || sid == k.sid {
		return nil // started by other code of this process
	}
	fresh := s == nil
	if fresh {
		s = &adoptedProcess{firstSeen: time.Now()}
	}
	if s.owner = k.ownerBySession(pid, sid); s.owner != nil {
		s.possibleOwners, s.pendingFork = nil, 0
		return s
	}
	if fresh && sid == pid && len(k.forks) > 0 {
		// the leader of its own session, as a program between fork and entry in roots is
		s.pendingFork = k.lastFork
	}
	for n := range k.forks {
		if n <= s.pendingFork {
			return s
		}
	}
	s.pendingFork = 0
	if s.owner = k.ownerByMarks(pid); s.owner == nil {
		k.setPossibleOwners(pid, s)
	}
	return s
}

// ownerBySession finds the program that an adopted process came from by properties that a program
// which is just being started cannot have: its session and its tag.
func (k *Keeper) ownerBySession(pid, sid int) *run {
	tag := tagOf(pid)
	for r := range k.runs {
		session := r.pid == sid && r.pid != pid // a number that is used again is not the program's
		if r.pid > 0 && (session || r.tag == tag && tag != untagged) {
			return r
		}
	}
	return nil
}

// ownerByMarks finds the owner by the environment.
func (k *Keeper) ownerByMarks(pid int) *run {
	env := environOf(pid)
	for r := range k.runs {
		if r.pid > 0 && marked(env, r.spec.Marks) {
			return r
		}
	}
	return nil
}

// setPossibleOwners finds the programs that an adopted process may have come from: those that ran
// when it was born.
func (k *Keeper) setPossibleOwners(pid int, s *adoptedProcess) {
	s.possibleOwners = s.possibleOwners[:0]
	p, _ := statOf(pid) // without it, any
	for r := range k.runs {
		if r.startTicks > 0 && (p.startTicks == 0 || r.startTicks <= p.startTicks+1) {
			s.possibleOwners = append(s.possibleOwners, r)
		}
	}
}

// The tag of a program is the soft limit of file locks, which no kernel since Linux 2.4.25 enforces
// (getrlimit(2)): a number that every process of the program inherits, whatever becomes of its
// parent, session and environment.

// setTag sets the tag of a program. Processes that it has forked before, which is rare, have none.
func (r *run) setTag() {
	limit := unix.Rlimit{Cur: r.tag, Max: unix.RLIM_INFINITY}
	if unix.Prlimit(r.pid, unix.RLIMIT_LOCKS, &limit, nil) != nil {
		r.k.mu.Lock()
		r.tag = untagged // the hard limit may be lower here
		r.k.mu.Unlock()
	}
}

// untagged is the limit of processes that got no tag, or belong to other users.
const untagged = unix.RLIM_INFINITY

func tagOf(pid int) uint64 {
	limit := unix.Rlimit{Cur: untagged}
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) != nil {
		return 0
	}
	return limit.Cur
}

// marked reports whether env has all marks; it is false if there are none.
func marked(env, marks []string) bool {
	for _, m := range marks {
		if !slices.Contains(env, m) {
			return false
		}
	}
	return len(marks) > 0
}

// reap removes a dead child from the process table, and reports whether the child was dead. Call it
// with k.mu held.
func (k *Keeper) reap(pid int) bool {
	for {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if err != unix.EINTR {
			return got == pid || err == unix.ECHILD
		}
	}
}

// remaining returns the adopted processes that are to end with r. Doubt says that it is too early
// to tell: while a fork is in progress that may have started one of them, within limits, or for a
// moment if only time can tell. If there are none and no doubt, r has ended: it leaves the tables
// before another run can look, so that the last possible owner of a process knows that it is the
// last.
func (k *Keeper) remaining(r *run, wide bool) (heads []int, doubt bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updateAdopted(wide)
	age := time.Since(r.ended)
	for pid, s := range k.adopted {
		switch {
		case k.owns(r, pid):
			heads = append(heads, pid)
		case s.pendingFork > 0:
			doubt = doubt || age < stuckAfter
		case slices.Contains(s.possibleOwners, r):
			doubt = doubt || age < attributionTimeout &&
				time.Since(s.firstSeen) < attributionTimeout
		}
	}
	if r.reaped && len(heads) == 0 && !doubt {
		k.forget(r)
	}
	return heads, doubt
}

// heads returns the adopted processes that are to end with r.
func (k *Keeper) heads(r *run) (pids []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updateAdopted(true)
	for pid := range k.adopted {
		if k.owns(r, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether a child of this process is to end with r. Call it with k.mu held.
func (k *Keeper) owns(r *run, child int) bool {
	s := k.adopted[child]
	if s == nil || s.pendingFork > 0 {
		return r == k.roots[child]
	}
	return s.owner == r || s.owner == nil && len(s.possibleOwners) == 1 && s.possibleOwners[0] == r
}

// abandoned reports whether s came from a program that has ended, which could not be determined in
// time, for example because this process was suspended.
func (s *adoptedProcess) abandoned() bool {
	return s.ownerEnded && s.owner == nil && s.pendingFork == 0 && len(s.possibleOwners) == 0
}

// killAbandoned sends SIGKILL to abandoned processes and their descendants, and again with growing
// pauses to those that do not end. Call it with k.mu held, after updateAdopted.
func (k *Keeper) killAbandoned(now time.Time) {
	due := map[int]bool{}
	for pid, s := range k.adopted {
		if !s.abandoned() || now.Before(s.nextKill) {
			continue
		}
		if due[pid] = true; s.pause == 0 {
			k.log.Warn("a process outlived its task and is killed", "pid", pid)
		}
		s.pause = min(max(2*s.pause, sweepInterval), time.Minute)
		s.nextKill = now.Add(s.pause)
	}
	if len(due) > 0 {
		killDescendants(k.pid, now, func(head int) bool { return due[head] })
	}
}

// forget removes r, which has ended, from the tables. What is still alive of it (Exit.Stuck) is
// reaped when it ends. Call it with k.mu held.
func (k *Keeper) forget(r *run) {
	delete(k.runs, r)
	if k.roots[r.pid] == r {
		delete(k.roots, r.pid)
	}
	for _, s := range k.adopted {
		s.ownerEnded = s.ownerEnded || s.owner == r || s.pendingFork > 0 ||
			slices.Contains(s.possibleOwners, r)
		if s.owner == r {
			s.owner = nil
		}
		s.possibleOwners = slices.DeleteFunc(s.possibleOwners, func(o *run) bool { return o == r })
	}
}
