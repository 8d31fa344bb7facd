package process

import (
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Deliver is what the executor does with a signal that the guard forwarded.
var Deliver = deliver

// Subscribers is the number of Notify calls that have not ended.
func Subscribers() int {
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	return len(subscribers.all)
}

// ParseStat gives the state in a line of /proc/PID/stat.
func ParseStat(line []byte) (state byte, ok bool) {
	p, ok := parseStat(line)
	return p.state, ok
}

var (
	ParseOOMKills = parseOOMKills
	OOMFiles      = oomFiles
)

// Numbers gives the fields of a line of /proc/PID/stat that are numbers.
func Numbers(line []byte) (pid, parent, group, session int, born uint64) {
	p, _ := parseStat(line)
	return p.pid, p.parent, p.group, p.session, p.startTicks
}

// OldKernel makes a Keeper as on a kernel without process descriptors and children files.
func OldKernel() (*Keeper, error) {
	k, err := WithoutCgroups()
	if err == nil {
		k.mu.Lock()
		k.pidfds, k.childrenFD = false, -1
		k.mu.Unlock()
	}
	return k, err
}

// Fork lets the Keeper believe that a program is being started, until over is called.
func (k *Keeper) Fork() (over func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &run{program: program{startTicks: ticksSinceBoot()}}
	k.runs[r] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.runs, r)
	}
}

// CanUseCgroups returns why programs get no cgroups of their own here; nil: they do.
func CanUseCgroups() error {
	if k := current.Load(); k != nil && k.cgroups != nil {
		return nil
	}
	g, err := openCgroups()
	g.close()
	return err
}

// OwnCgroup returns the folder of this process's cgroup, where it is mounted.
func OwnCgroup() (string, error) {
	dir, _, err := ownCgroup()
	return dir, err
}

// UnifiedPath returns the path of the cgroup in a file such as /proc/self/cgroup.
var UnifiedPath = unifiedPath

// CgroupFolder returns the folder of a cgroup, given /proc/self/mountinfo.
func CgroupFolder(mountinfo, path string) string {
	for _, m := range cgroupMounts(mountinfo) {
		if dir, ok := m.folder(path); ok {
			return dir
		}
	}
	return ""
}

// Program is what the processes of a program are recognized by.
type Program struct {
	Pid        int
	Start, Tag uint64
	Cgroup     string
	Marks      []string
}

// Adopted is what an adopted process has inherited.
type Adopted struct {
	Pid, Session int
	Tag          uint64
	Ours         bool
	Cgroup       string
	Environ      []string
	Born         uint64
}

// Attribute says what becomes of an adopted process, and the pid of its owner, if any.
func Attribute(s Adopted, all ...Program) string {
	var programs []*program
	for _, p := range all {
		programs = append(programs, &program{pid: p.Pid, startTicks: p.Start, tag: p.Tag,
			cgroup: p.Cgroup, marks: p.Marks})
	}
	owner, v := attribute(traces{pid: s.Pid, session: s.Session, tag: s.Tag, ours: s.Ours,
		cgroup: s.Cgroup, environ: func() []string { return s.Environ },
		born: func() uint64 { return s.Born }}, programs)
	if v == owned {
		return "of " + strconv.Itoa(owner.pid)
	}
	return [...]string{leaveAlone: "leave alone", undecided: "undecided", shared: "shared",
		abandoned: "abandoned"}[v]
}

// WithoutCgroups makes a Keeper as where no cgroup is delegated.
func WithoutCgroups() (*Keeper, error) {
	k, err := NewKeeper(slog.Default())
	if err == nil {
		k.mu.Lock()
		k.cgroups.close()
		k.cgroups = nil
		k.mu.Unlock()
	}
	return k, err
}

// Lingering makes a Keeper that gives what outlives its program a minute.
func Lingering() (*Keeper, error) { return lingering(time.Minute) }

// Hasty makes a Keeper that tells the end of a program at once when anything outlives it.
func Hasty() (*Keeper, error) { return lingering(-termLinger) }

func lingering(linger time.Duration) (*Keeper, error) {
	k, err := NewKeeper(slog.Default())
	if err == nil {
		k.mu.Lock()
		k.linger = linger
		k.mu.Unlock()
	}
	return k, err
}

// MainThreadChildren and AllChildren list children of this process.
func (k *Keeper) MainThreadChildren() []int { return k.childrenOf(false) }
func (k *Keeper) AllChildren() []int        { return k.childrenOf(true) }

// UpdateAdopted lists the children of all threads, as the sweep does every so often.
func (k *Keeper) UpdateAdopted() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updateAdopted(true)
}

// Tally counts signals of one kind.
type Tally = tally

func (t *tally) Fresh(told bool, now time.Time) bool { return t.count(told, now) }

// LandlockABI is the version of Landlock that the kernel has.
func LandlockABI() int {
	abi, _ := landlockABI()
	return abi
}

// LimitsFilter returns the filter of system calls that confined programs have.
func LimitsFilter() []unix.SockFilter { return limitsFilter() }

// Leftovers lists what KillLeftovers would kill, in rising order.
func Leftovers(match func(environ []string) bool) []int { return leftovers(snapshot(), match) }
