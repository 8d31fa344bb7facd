package process

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KillOrphans sends SIGKILL to processes that an earlier run left, of which nobody is alive who
// would end them: those of this user in whose environment match finds the marks, and all that
// descend from them. It goes on until none is left or ctx is done, and returns how many there were
// and, then, ctx's error. It never touches this process, its ancestors or kernel threads. Processes
// that cleared or overwrote their environment are found only below one that did not. match is
// called from one goroutine.
func KillOrphans(ctx context.Context, match func(environ []string) bool) (count int, err error) {
	killed := map[int]uint64{} // when they were born
	for {
		all := snapshot()
		found := orphans(all, match)
		if len(found) == 0 && !anyAlive(all, killed) {
			return len(killed), nil
		}
		for _, pid := range found {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed[pid] = all[pid].startTicks
			}
		}
		select {
		case <-ctx.Done():
			return len(killed), ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Identity names this process among all since the machine was started: a pid alone may be used
// again. It is "" where that cannot be told.
func Identity() string {
	p, ok := statOf(os.Getpid())
	if !ok || p.startTicks == 0 {
		return ""
	}
	return identity(p)
}

func identity(p proc) string {
	return strconv.Itoa(p.pid) + "/" +
		strconv.FormatUint(p.startTicks, 10)
}

// Alive reports whether the process that Identity named is alive and can be seen from here.
func Alive(name string) bool {
	pid, _, _ := strings.Cut(name, "/")
	number, err := strconv.Atoi(pid)
	if err != nil || number <= 0 {
		return false
	}
	p, ok := statOf(number)
	return ok && p.state != 'Z' && p.state != 'X' && identity(p) == name
}

// anyAlive tells whether one of the processes is there that were killed: one that dies late is
// found no more when its parent, which had the marks, died before it.
func anyAlive(all map[int]proc, killed map[int]uint64) bool {
	for pid, born := range killed {
		if p, there := all[pid]; there && p.startTicks == born && p.state != 'Z' {
			return true
		}
	}
	return false
}

func orphans(all map[int]proc, match func(environ []string) bool) (pids []int) {
	own := ancestors(all, os.Getpid())
	marked := map[int]bool{}
	for pid, p := range all {
		if p.state == 'Z' || own[pid] || !ownedByUser(pid) {
			continue
		}
		if env := environOf(pid); len(env) > 0 && match(env) {
			marked[pid] = true
		}
	}
	for pid, p := range all {
		if p.state == 'Z' || own[pid] {
			continue
		}
		for up := range ancestors(all, pid) {
			if marked[up] {
				pids = append(pids, pid)
				break
			}
		}
	}
	slices.Sort(pids)
	return pids
}

// ancestors is the set of pid and those above it.
func ancestors(all map[int]proc, pid int) map[int]bool {
	set := map[int]bool{}
	for pid > 0 && !set[pid] {
		set[pid] = true
		pid = all[pid].parent
	}
	return set
}

// ownedByUser tells whether a process runs as this user.
func ownedByUser(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Geteuid()
}
