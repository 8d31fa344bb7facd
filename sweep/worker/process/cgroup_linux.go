package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroups are the control groups of the programs of a Keeper (cgroups(7), version 2), where this
// process may make some below its own: one for each program that runs, used again by later ones.
// They limit nothing. A process leaves its cgroup only by writing to files that belong to this
// user, and cgroup.kill ends all that are in one at once, however fast they fork.
//
// A nil *cgroups and a nil *cgroup stand for a system where there are none.
type cgroups struct {
	dir  string // of this Keeper
	path string // of dir, as /proc/PID/cgroup has it

	mu    sync.Mutex
	free  []*cgroup
	count int
}

// cgroup is the control group of one program.
type cgroup struct {
	dir, path string
	// dir and its file cgroup.events
	fd, events int
	killed     bool
}

// cgroupPrefix begins the names of the folders of Keepers. The rest names the process, and the
// namespace in which its pid means that.
const cgroupPrefix = "mlframework-"

// openCgroups creates the folder of a Keeper. It fails where the kernel has no cgroup.kill (before
// Linux 5.14), the file system of cgroups is read-only, as in Docker's containers, this process's
// own cgroup belongs to another user, or it has limits, which programs such as Java's would look
// for in theirs.
func openCgroups() (*cgroups, error) {
	parent, path, err := ownCgroup()
	if err != nil {
		return nil, err
	}
	identity := Identity()
	if identity == "" || isLimited(parent) {
		return nil, errors.New("the cgroup has limits, or this process cannot be named")
	}
	name := cgroupPrefix + pidNamespace() + "-" + strings.Replace(identity, "/", "-", 1)
	g := &cgroups{dir: filepath.Join(parent, name), path: filepath.Join(path, name)}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := g.try(); err != nil {
		removeCgroup(g.dir)
		return nil, err
	}
	return g, nil
}

// isLimited reports whether a cgroup limits memory or processor time.
func isLimited(dir string) bool {
	return slices.ContainsFunc([]string{"memory.max", "cpu.max"}, func(name string) bool {
		limit, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && !strings.HasPrefix(string(limit), "max")
	})
}

// try starts nothing in a cgroup: what cannot be executed fails only after it was forked there.
func (g *cgroups) try() error {
	if _, err := os.Stat(filepath.Join(g.dir, "cgroup.kill")); err != nil {
		return err
	}
	c := g.take()
	if c == nil {
		return errors.New("cannot make a cgroup in " + g.dir)
	}
	defer g.put(c)
	pid, err := syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: c.fd}})
	if err == nil { // killed at once: see put
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return errors.New("fork into a cgroup: its processes are killed")
	}
	if err != syscall.ENOTDIR {
		return fmt.Errorf("fork into a cgroup: %w", err)
	}
	return nil
}

// hasLostCgroup reports whether a fork failed because somebody has removed or changed the cgroup.
func hasLostCgroup(err error) bool {
	return err == unix.ENODEV || err == unix.EBUSY || err == unix.EOPNOTSUPP
}

// take returns a cgroup that no program uses, nil if there is none.
func (g *cgroups) take() *cgroup {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.free); n > 0 {
		c := g.free[n-1]
		g.free = g.free[:n-1]
		return c
	}
	g.count++
	name := strconv.Itoa(g.count)
	c := &cgroup{dir: filepath.Join(g.dir, name), path: g.path + "/" + name}
	if err := os.Mkdir(c.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil
	}
	var err error
	if c.fd, err = unix.Open(c.dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil
	}
	c.events, err = unix.Openat(c.fd, "cgroup.events", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(c.fd)
		return nil
	}
	return c
}

// put takes back a cgroup in which nothing is alive but what cgroup.kill did not end. Some kernels,
// such as 6.18, also kill what is forked into a cgroup from another one at any time after
// cgroup.kill: such a cgroup is not used again.
func (g *cgroups) put(c *cgroup) {
	if c == nil {
		return
	}
	if c.killed {
		c.close()
		removeCgroup(c.dir)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free = append(g.free, c)
}

// of returns the cgroup that a process is in, "" if no use is made of them.
func (g *cgroups) of(pid int) string {
	if g == nil {
		return ""
	}
	var buf [8192]byte
	return unifiedPath(string(readProc(pid, "cgroup", buf[:])))
}

// kill sends SIGKILL to all processes in the cgroups of this Keeper.
func (g *cgroups) kill() {
	if g != nil {
		killCgroup(g.dir)
	}
}

// close removes the cgroups, in which nothing is alive.
func (g *cgroups) close() {
	if g == nil {
		return
	}
	for _, c := range g.free {
		c.close()
	}
	g.remove()
}

// remove removes the cgroups in which nothing is alive.
func (g *cgroups) remove() {
	if g != nil {
		removeCgroup(g.dir)
	}
}

func (c *cgroup) close() {
	unix.Close(c.events)
	unix.Close(c.fd)
}

// populated reports whether a process may be in the cgroup or in one below it. On some kernels one
// that has been reaped is, for a moment.
func (c *cgroup) populated() bool {
	if c == nil {
		return false
	}
	var buf [128]byte
	n, err := unix.Pread(c.events, buf[:], 0)
	return err == nil && strings.Contains(string(buf[:n]), "populated 1")
}

// members returns the processes in the cgroup and in those below it.
func (c *cgroup) members() []int { return cgroupMembers(c.dir) }

// kill sends SIGKILL to them. None that is being forked escapes.
func (c *cgroup) kill() {
	c.killed = true
	killCgroup(c.dir)
}

// killCgroup reports whether there is such a cgroup and this user owns it. If not, there are still
// those who end processes one by one.
func killCgroup(dir string) bool {
	return os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil
}

func cgroupMembers(dir string) (pids []int) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			text, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
			pids = parsePIDs(text, pids)
		}
		return nil // what cannot be read is being removed
	})
	return pids
}

// removeCgroup removes a cgroup and those below it, unless processes are in them.
func removeCgroup(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			removeCgroup(filepath.Join(dir, e.Name()))
		}
	}
	_ = unix.Rmdir(dir)
}

// killLeftoverCgroups kills what is in cgroups of Keepers of this process's own cgroup that are no
// longer alive, removes those that are empty, and returns the processes that it found.
func killLeftoverCgroups() (pids []int) {
	parent, _, err := ownCgroup()
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		name, is := strings.CutPrefix(e.Name(), cgroupPrefix)
		namespace, process, whole := strings.Cut(name, "-")
		process = strings.Replace(process, "-", "/", 1)
		if !is || !whole || namespace != pidNamespace() || Alive(process) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if found := cgroupMembers(dir); killCgroup(dir) {
			pids = append(pids, found...)
			removeCgroup(dir)
		}
	}
	return pids
}

// pidNamespace returns the number of this process's namespace of pids.
func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSuffix(strings.TrimPrefix(name, "pid:["), "]")
}

// writableCgroups returns where the cgroups of version 2 are mounted, if this user may move
// processes between some of them.
func writableCgroups() (mounts []string) {
	dir, _, err := ownCgroup()
	if err != nil || unix.Faccessat(unix.AT_FDCWD, filepath.Join(dir, "cgroup.procs"), unix.W_OK,
		unix.AT_EACCESS) != nil {
		return nil
	}
	text, _ := os.ReadFile("/proc/self/mountinfo") // it could be read a moment ago
	for _, m := range cgroupMounts(string(text)) {
		mounts = append(mounts, m.point)
	}
	return mounts
}

// ownCgroup returns the folder of this process's cgroup, and its path in /proc/self/cgroup.
func ownCgroup() (dir, path string, err error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	path = unifiedPath(string(own))
	for _, m := range cgroupMounts(string(mounts)) {
		if below, is := m.folder(path); is {
			return below, path, nil
		}
	}
	return "", "", errors.New("no file system of cgroups, version 2, shows this process's own")
}
