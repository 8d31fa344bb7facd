package process

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// execTimeout is how long new adopted processes that execute another program, and so hide their
// environment, are waited for, together: that takes microseconds, longer on a busy machine.
const execTimeout = 100 * time.Millisecond

// adoptedProcess is a child of this process that Run did not start: its parent has ended. Its pid
// cannot be reused until updateAdopted reaps it.
type adoptedProcess struct {
	// nil if it is not known, or if the owner has ended
	owner *program
	// its owner has ended: see killAbandoned
	abandoned, killed bool
}

// updateAdopted brings the table of adopted processes up to date: it reaps the dead and finds the
// owners of new ones. Call it with k.mu held.
//
// A process that ends between the listing and its reaping has handed its own children to this
// process in between, so after every reaping the children are listed again. If a tree keeps
// forking, the dead are left for the next time.
func (k *Keeper) updateAdopted(wide bool) {
	ofAbandoned := false
	for range 100 {
		reaped, abandoned := k.updateAdoptedOnce(wide, true, ofAbandoned)
		if !reaped {
			return
		}
		ofAbandoned = ofAbandoned || abandoned
	}
	k.updateAdoptedOnce(wide, false, ofAbandoned)
}

// updateAdoptedOnce lists the children once. It returns whether it has reaped any, and whether an
// abandoned one was among them: what is new the next time may be a child of that.
func (k *Keeper) updateAdoptedOnce(wide, reap, ofAbandoned bool) (reaped, abandonedReaped bool) {
	children := k.childrenOf(wide)
	for pid := range k.adopted {
		if !slices.Contains(children, pid) && (wide || unix.Kill(pid, 0) == unix.ESRCH) {
			delete(k.adopted, pid) // other code waits for any child
		}
	}
	deadline := time.Now().Add(execTimeout)
	for _, pid := range children {
		if k.roots[pid] != nil {
			continue
		}
		s, v := k.adopted[pid], owned
		if s == nil || s.owner == nil && !s.abandoned {
			var owner *program
			until := deadline
			if s != nil { // it was waited for when it was new
				until = time.Time{}
			}
			if owner, v = k.attribute(pid, s != nil || ofAbandoned, until); v == leaveAlone {
				continue
			}
			s = &adoptedProcess{owner: owner, abandoned: v == abandoned}
			k.adopted[pid] = s
		}
		if reap && v != undecided && k.reap(pid) {
			delete(k.adopted, pid)
			reaped, abandonedReaped = true, abandonedReaped || s.abandoned
		}
	}
	return reaped, abandonedReaped
}

// attribute finds the owner of a child that Run did not start. Ours says that a program of this
// Keeper left it, which may have ended. A process that executes another program is waited for until
// the deadline. Call it with k.mu held.
func (k *Keeper) attribute(pid int, ours bool, deadline time.Time) (*program, verdict) {
	session, err := unix.Getsid(pid)
	if err != nil || session == k.sid {
		return nil, leaveAlone // started by other code of this process
	}
	programs := make([]*program, 0, len(k.runs))
	for r := range k.runs {
		programs = append(programs, &r.program)
	}
	traces := traces{
		pid: pid, session: session, tag: tagOf(pid), cgroup: k.cgroups.of(pid),
		environ: func() []string { return settledEnviron(pid, deadline) },
		born:    func() uint64 { p, _ := statOf(pid); return p.startTicks },
	}
	traces.ours = ours || k.isOwnTag(traces.tag)
	return attribute(traces, programs)
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

// remaining returns the processes that are to end with r, whose program has ended. If there are
// none, it is over: r leaves the tables before another run can look, so that the last possible
// owner of a process knows that it is the last.
func (k *Keeper) remaining(r *run, wide bool) []int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updateAdopted(wide)
	heads := k.headsOf(r)
	if len(heads) == 0 && r.group.populated() {
		heads = r.group.members()
	}
	if r.reaped && len(heads) == 0 {
		k.forget(r)
	}
	return heads
}

// heads returns the adopted processes that are to end with r.
func (k *Keeper) heads(r *run) []int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updateAdopted(true)
	return k.headsOf(r)
}

func (k *Keeper) headsOf(r *run) (pids []int) {
	for pid, s := range k.adopted {
		if s.owner == &r.program {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether a child of this process is to end with r. Call it with k.mu held.
func (k *Keeper) owns(r *run, child int) bool {
	if s := k.adopted[child]; s != nil {
		return s.owner == &r.program
	}
	return r == k.roots[child]
}

// killAbandoned sends SIGKILL to processes whose program has ended without them, for example
// because this process was suspended, and to their descendants. Call it with k.mu held, after
// updateAdopted.
func (k *Keeper) killAbandoned() {
	heads := map[int]bool{}
	for pid, s := range k.adopted {
		if s.abandoned && !s.killed {
			k.log.Warn("a process outlived its task and is killed", "pid", pid)
			s.killed = true
		}
		if s.abandoned {
			heads[pid] = true
		}
	}
	if len(heads) > 0 {
		killDescendants(k.pid, time.Now(), func(head int) bool { return heads[head] })
	}
}

// forget removes r, which has ended, from the tables. What is still alive of it (Exit.Unkillable)
// is reaped when it ends. Call it with k.mu held.
func (k *Keeper) forget(r *run) {
	delete(k.runs, r)
	if k.roots[r.pid] == r {
		delete(k.roots, r.pid)
	}
	for _, s := range k.adopted {
		if s.owner == &r.program {
			s.owner, s.abandoned = nil, true
		}
	}
}
