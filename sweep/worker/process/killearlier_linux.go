package process

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// KillLeftovers sends SIGKILL to processes that an earlier run left behind with no live process to
// end them: those of this user whose environment match accepts, with all their descendants, and
// those that are still in a cgroup of an earlier run, whatever their environment. It repeats this
// until none is left or ctx is done, and returns how many of the first kind there were and, in the
// latter case, the error of ctx: what else is in such cgroups may be of another folder. It never
// touches this process, its ancestors or kernel threads. Outside such a cgroup, a process that
// cleared or overwrote its environment is found only as a descendant of one that did not. match is
// called from one goroutine.
func KillLeftovers(ctx context.Context, match func(environ []string) bool) (count int, err error) {
	killed, matching := map[int]uint64{}, map[int]uint64{} // when they were born
	for {
		all := snapshot()
		found, left := leftovers(all, match), killLeftoverCgroups()
		for _, pid := range left {
			killed[pid] = all[pid].startTicks
		}
		for _, pid := range found {
			err := unix.Kill(pid, unix.SIGKILL)
			if err == nil || err == unix.ESRCH { // ended with its cgroup
				matching[pid] = all[pid].startTicks
			}
		}
		maps.Copy(killed, matching)
		if len(left)+len(found) == 0 && !anyAlive(all, killed) {
			return len(matching), nil
		}
		select {
		case <-ctx.Done():
			return len(matching), ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// anyAlive reports whether a killed process is still there: one that dies late is no longer found
// by its marked parent if the parent died first.
func anyAlive(all map[int]proc, killed map[int]uint64) bool {
	for pid, born := range killed {
		if p, there := all[pid]; there && p.startTicks == born && p.state != 'Z' {
			return true
		}
	}
	return false
}

func leftovers(all map[int]proc, match func(environ []string) bool) (pids []int) {
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

// ancestors returns the set of pid and its ancestors.
func ancestors(all map[int]proc, pid int) map[int]bool {
	set := map[int]bool{}
	for pid > 0 && !set[pid] {
		set[pid] = true
		pid = all[pid].parent
	}
	return set
}

// ownedByUser reports whether a process runs as this user.
func ownedByUser(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Geteuid()
}
