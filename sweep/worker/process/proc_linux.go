package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the unit of start times in /proc/PID/stat in nanoseconds: USER_HZ is 100 on amd64
// and arm64 (time(7)).
const clockTick = 10_000_000

// proc is the part of /proc/PID/stat that is used here (proc(5)).
type proc struct {
	pid, parent, group, session int
	state                       byte   // R S D T Z ...
	startTicks                  uint64 // clock ticks since boot
}

// parseStat parses /proc/PID/stat. The name of the program in it, in parentheses, may contain
// anything.
func parseStat(line []byte) (p proc, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 2 || end < open {
		return proc{}, false
	}
	f := bytes.Fields(line[end+1:])
	if len(f) < 20 {
		return proc{}, false
	}
	p.pid, ok = parseNumber(line[:open-1])
	p.state = f[0][0]
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		n, good := parseNumber(f[1+i])
		*to, ok = n, ok && good
	}
	born, good := parseNumber(f[19])
	p.startTicks = uint64(born)
	return p, ok && good
}

func parseNumber(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0
}

// parsePIDs parses a children file: numbers, each followed by a space.
func parsePIDs(b []byte, to []int) []int {
	for field := range bytes.FieldsSeq(b) {
		if n, ok := parseNumber(field); ok {
			to = append(to, n)
		}
	}
	return to
}

// readProc reads the beginning of /proc/PID/NAME into buf. The result is empty if the process is
// gone or belongs to another user.
func readProc(pid int, name string, buf []byte) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err != nil || m == 0 {
			break
		}
		n += m
	}
	return buf[:n]
}

func statOf(pid int) (proc, bool) {
	var buf [1024]byte
	return parseStat(readProc(pid, "stat", buf[:]))
}

// environOf returns the environment with which a process was executed, empty if the process is gone
// or has overwritten it. It reads up to 256 KiB.
func environOf(pid int) []string {
	b := readProc(pid, "environ", make([]byte, 256<<10))
	if len(b) == 0 {
		return nil
	}
	var env []string
	for e := range bytes.SplitSeq(b, []byte{0}) {
		if len(e) > 0 {
			env = append(env, string(e))
		}
	}
	return env
}

// settledEnviron returns the environment of a process as environOf does. While a process executes
// another program, first its command line and then its environment are empty; settledEnviron waits
// for the end of that, until the deadline at most.
func settledEnviron(pid int, deadline time.Time) []string {
	for settled := false; ; {
		hasCommand := len(readProc(pid, "cmdline", make([]byte, 1))) > 0
		if env := environOf(pid); len(env) > 0 || settled {
			return env
		}
		if p, ok := statOf(pid); !ok || p.state == 'Z' || !time.Now().Before(deadline) {
			return nil
		}
		settled = hasCommand // the kernel sets the environment some instructions later
		time.Sleep(100 * time.Microsecond)
	}
}

// snapshot returns all visible processes. It is not atomic: a process, or its parent, may be
// missing.
func snapshot() map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error counts
	all := make(map[int]proc, len(names))
	for _, name := range names {
		if pid, ok := parseNumber([]byte(name)); ok {
			if p, ok := statOf(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// descendants maps each descendant of top to the child of top from which it descends.
func descendants(all map[int]proc, top int) map[int]int {
	heads := map[int]int{}
	for pid := range all {
		head := pid
		// a snapshot of a changing table could hold a circle
		for steps := 0; steps < len(all); steps++ {
			parent := all[head].parent
			if parent == top {
				heads[pid] = head
				break
			}
			if _, known := all[parent]; !known {
				break
			}
			head = parent
		}
	}
	return heads
}

// childrenOf returns the children of this process: of all threads (wide), or of the main thread,
// which gets the adopted ones. If the kernel has no such files (CONFIG_PROC_CHILDREN), it walks
// /proc.
func (k *Keeper) childrenOf(wide bool) []int {
	if k.childrenFD < 0 {
		return childrenByScan(k.pid)
	}
	if !wide {
		return readChildren(k.childrenFD, nil)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return childrenByScan(k.pid)
	}
	var pids []int
	for _, t := range threads {
		fd, err := unix.Open("/proc/self/task/"+t.Name()+"/children", unix.O_RDONLY|unix.O_CLOEXEC,
			0)
		if err != nil {
			continue // the thread has ended, its children are another's
		}
		pids = readChildren(fd, pids)
		unix.Close(fd)
	}
	return pids
}

func childrenByScan(self int) (pids []int) {
	for pid, p := range snapshot() {
		if p.parent == self {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readChildren(fd int, to []int) []int {
	var buf [4096]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil || n == 0 {
		return to
	}
	if n < len(buf)-16 { // the kernel stops before a number that does not fit
		return parsePIDs(buf[:n], to)
	}
	big := make([]byte, 1<<20)
	n = 0
	for n < len(big) {
		m, err := unix.Pread(fd, big[n:], int64(n))
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return parsePIDs(big[:n], to)
}
