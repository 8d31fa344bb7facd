package process

import (
	"slices"
	"strings"
)

// program is what the processes that came from a running program are recognized by.
type program struct {
	// 0 while it is being started
	pid int
	// clock ticks since boot, not after its start; 0 before that
	startTicks uint64
	// a number that all its processes inherit; 0: none
	tag uint64
	// "": it has none of its own
	cgroup string
	// members of its environment that no other program has all of
	marks []string
}

// traces are what an adopted process has inherited from the program that it came from, or left.
type traces struct {
	pid, session int
	tag          uint64
	// it is of a program of this Keeper that may have ended: by its tag, because it was seen while
	// one ran that could have left it, or because its parent was abandoned
	ours    bool
	cgroup  string          // "": unknown
	environ func() []string // empty while it executes another program
	born    func() uint64   // clock ticks since boot; 0: unknown
}

// verdict is what is to become of an adopted process.
type verdict uint8

const (
	leaveAlone verdict = iota // no program of this Keeper left it
	undecided                 // it may be a program that is being started
	owned                     // it ends with its owner
	shared                    // one of several programs left it: it ends with the last of them
	abandoned                 // its owner has ended
)

// attribute finds the program that an adopted process came from. The evidence is tried from the
// best to the weakest: only a process that may write to the cgroup's files leaves its cgroup, few
// change the tag, some their session, and more their environment. If nothing tells, it came from
// one of the programs that had been started when it was born.
func attribute(p traces, programs []*program) (owner *program, v verdict) {
	for _, is := range []func(*program) bool{
		func(o *program) bool { return o.cgroup != "" && isWithin(p.cgroup, o.cgroup) },
		func(o *program) bool { return o.tag != 0 && o.tag == p.tag },
		// unless the pid is used again
		func(o *program) bool { return o.pid == p.session && o.pid != p.pid },
	} {
		if i := slices.IndexFunc(programs, is); i >= 0 {
			if programs[i].pid == 0 {
				return nil, undecided
			}
			return programs[i], owned
		}
	}
	starting := func(o *program) bool { return o.pid == 0 }
	if p.pid == p.session && slices.ContainsFunc(programs, starting) {
		return nil, undecided // a program leads its session before it is known here
	}
	environ := p.environ()
	hasMarks := func(o *program) bool { return o.pid != 0 && hasAll(environ, o.marks) }
	if i := slices.IndexFunc(programs, hasMarks); i >= 0 {
		return programs[i], owned
	}
	born := p.born()
	older := slices.DeleteFunc(slices.Clone(programs), func(o *program) bool {
		return o.startTicks == 0 || born > 0 && o.startTicks > born+1
	})
	switch {
	case len(older) == 0 && p.ours:
		return nil, abandoned
	case len(older) == 0:
		return nil, leaveAlone
	case len(older) == 1 && older[0].pid != 0:
		return older[0], owned
	}
	return nil, shared
}

// isWithin reports whether a cgroup is another one or below it.
func isWithin(cgroup, top string) bool {
	return cgroup == top || strings.HasPrefix(cgroup, top+"/")
}

// hasAll reports whether env has all marks; it is false if there are none.
func hasAll(env, marks []string) bool {
	return len(marks) > 0 &&
		!slices.ContainsFunc(marks, func(m string) bool { return !slices.Contains(env, m) })
}
