package process

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// stranger is a child of this process that Run did not start: a process whose parent has ended. Its pid stays its own
// until look reaps it.
type stranger struct {
	owner    *run
	suspects []*run // without an owner: the programs that ran when it was born and still run
	doubtBy  uint64 // not 0: it may be a program being started, by a fork of this number or before
	met      time.Time
	late     bool          // a program ended of which it may be
	next     time.Time     // not before: see killAbandoned
	pause    time.Duration // from one try to the next
}

// look brings the strangers up to date: reaps the dead, finds the owners of the new. Call it with k.mu held.
//
// One that ends between the listing and its reaping has handed its own children to this process in between: so after
// every reaping it lists again. Against a tree that always forks on, it leaves the dead for the next time.
func (k *Keeper) look(wide bool) {
	for range 100 {
		if !k.lookOnce(wide, true) {
			return
		}
	}
	k.lookOnce(wide, false)
}

func (k *Keeper) lookOnce(wide, reap bool) (reaped bool) {
	children := k.childrenOf(wide)
	for pid, s := range k.strangers {
		if !slices.Contains(children, pid) && (wide || s.doubtBy > 0 || unix.Kill(pid, 0) == unix.ESRCH) {
			delete(k.strangers, pid) // it was a program after all, and has been reaped
		}
	}
	for _, pid := range children {
		if k.roots[pid] != nil {
			delete(k.strangers, pid) // it was in doubt
			continue
		}
		s := k.strangers[pid]
		if s == nil || s.owner == nil { // look again: amid execve a process shows no environment
			if s = k.meet(pid, s); s == nil {
				continue
			}
			k.strangers[pid] = s
		}
		if reap && s.doubtBy == 0 && k.reap(pid) {
			delete(k.strangers, pid)
			reaped = true
		}
	}
	return reaped
}

// meet judges a child whose owner is not known. It gives nil for what is not to be touched.
func (k *Keeper) meet(pid int, s *stranger) *stranger {
	sid, err := unix.Getsid(pid)
	if err != nil || sid == k.sid {
		return nil // started by other code of this process
	}
	fresh := s == nil
	if fresh {
		s = &stranger{met: time.Now()}
	}
	if s.owner = k.provenOwner(pid, sid); s.owner != nil {
		s.suspects, s.doubtBy = nil, 0
		return s
	}
	if fresh && sid == pid && len(k.forks) > 0 {
		s.doubtBy = k.lastFork // the leader of its own session, as a program between fork and entry in roots is
	}
	for n := range k.forks {
		if n <= s.doubtBy {
			return s
		}
	}
	s.doubtBy = 0
	if s.owner = k.markedOwner(pid); s.owner == nil {
		k.suspect(pid, s)
	}
	return s
}

// provenOwner finds the program from which a stranger came by what no program can have that is just being started.
func (k *Keeper) provenOwner(pid, sid int) *run {
	tag := tagOf(pid)
	for r := range k.runs {
		session := r.pid == sid && r.pid != pid // a number that is used again is not the program's
		if r.pid > 0 && (session || r.tag == tag && tag != untagged) {
			return r
		}
	}
	return nil
}

// markedOwner finds it by the environment.
func (k *Keeper) markedOwner(pid int) *run {
	env := environOf(pid)
	for r := range k.runs {
		if r.pid > 0 && marked(env, r.spec.Marks) {
			return r
		}
	}
	return nil
}

// suspect finds the programs from which a stranger may have come: those that ran when it was born.
func (k *Keeper) suspect(pid int, s *stranger) {
	s.suspects = s.suspects[:0]
	p, _ := statOf(pid) // without it, any
	for r := range k.runs {
		if r.born > 0 && (p.born == 0 || r.born <= p.born+1) {
			s.suspects = append(s.suspects, r)
		}
	}
}

// The tag of a program is the soft limit of file locks, which no kernel since Linux 2.4.25 enforces (getrlimit(2)): a
// number that every process of the program inherits, whatever becomes of its parent, session and environment.

// setTag gives a program its tag. What it forked before that has none; that it had the time for it is rare.
func (r *run) setTag() {
	limit := unix.Rlimit{Cur: r.tag, Max: unix.RLIM_INFINITY}
	if unix.Prlimit(r.pid, unix.RLIMIT_LOCKS, &limit, nil) != nil {
		r.k.mu.Lock()
		r.tag = untagged // the hard limit may be lower here
		r.k.mu.Unlock()
	}
}

// untagged is what processes have that got no tag, or those of other users.
const untagged = unix.RLIM_INFINITY

func tagOf(pid int) uint64 {
	limit := unix.Rlimit{Cur: untagged}
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) != nil {
		return 0
	}
	return limit.Cur
}

// marked tells whether env has all marks, and there are any.
func marked(env, marks []string) bool {
	for _, m := range marks {
		if !slices.Contains(env, m) {
			return false
		}
	}
	return len(marks) > 0
}

// reap takes a dead child off the process table and tells whether it was one. Call it with k.mu held.
func (k *Keeper) reap(pid int) bool {
	for {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if err != unix.EINTR {
			return got == pid || err == unix.ECHILD
		}
	}
}

// left lists the strangers that are to end with r, and tells whether it is too soon to say: for as long as a fork lasts that
// one of them may be of, within reason, or for a moment where nothing but time can tell. It looks first. When there are none,
// and no doubt, r has ended: it leaves the tables before another run can look, so that the last suspect of a stranger knows
// that it is the last.
func (k *Keeper) left(r *run, wide bool) (heads []int, doubt bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.look(wide)
	age := time.Since(r.ended)
	for pid, s := range k.strangers {
		switch {
		case k.owns(r, pid):
			heads = append(heads, pid)
		case s.doubtBy > 0:
			doubt = doubt || age < stuckAfter
		case slices.Contains(s.suspects, r):
			doubt = doubt || age < doubtFor && time.Since(s.met) < doubtFor
		}
	}
	if r.reaped && len(heads) == 0 && !doubt {
		k.forget(r)
	}
	return heads, doubt
}

// heads lists the strangers that are to end with r.
func (k *Keeper) heads(r *run) (pids []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.look(true)
	for pid := range k.strangers {
		if k.owns(r, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns tells whether a child of this process is to end with r. Call it with k.mu held.
func (k *Keeper) owns(r *run, child int) bool {
	s := k.strangers[child]
	if s == nil || s.doubtBy > 0 {
		return r == k.roots[child]
	}
	return s.owner == r || s.owner == nil && len(s.suspects) == 1 && s.suspects[0] == r
}

// abandoned tells whether s came from a program that is over, which could not be told in time, as where this process stood
// still meanwhile.
func (s *stranger) abandoned() bool {
	return s.late && s.owner == nil && s.doubtBy == 0 && len(s.suspects) == 0
}

// killAbandoned sends SIGKILL to abandoned strangers and what is below them, and again with growing pauses to what does
// not end. Call it with k.mu held, after a look.
func (k *Keeper) killAbandoned(now time.Time) {
	due := map[int]bool{}
	for pid, s := range k.strangers {
		if !s.abandoned() || now.Before(s.next) {
			continue
		}
		if due[pid] = true; s.pause == 0 {
			k.log.Warn("a process outlived its task and is killed", "pid", pid)
		}
		s.pause = min(max(2*s.pause, every), time.Minute)
		s.next = now.Add(s.pause)
	}
	if len(due) > 0 {
		killBelow(k.pid, now, func(head int) bool { return due[head] })
	}
}

// forget takes r, which has ended, out of the tables. What still lives of it (Exit.Stuck) is reaped when it ends. Call it
// with k.mu held.
func (k *Keeper) forget(r *run) {
	delete(k.runs, r)
	if k.roots[r.pid] == r {
		delete(k.roots, r.pid)
	}
	for _, s := range k.strangers {
		s.late = s.late || s.owner == r || s.doubtBy > 0 || slices.Contains(s.suspects, r)
		if s.owner == r {
			s.owner = nil
		}
		s.suspects = slices.DeleteFunc(s.suspects, func(o *run) bool { return o == r })
	}
}
