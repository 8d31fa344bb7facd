package process

import (
	"log/slog"
	"time"

	"golang.org/x/sys/unix"
)

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
	k, err := NewKeeper(slog.Default())
	if err == nil {
		k.mu.Lock()
		k.pidfds, k.childrenFD = false, -1
		k.mu.Unlock()
	}
	return k, err
}

// Impatient makes a Keeper that reaps forgotten children at once.
func Impatient() (*Keeper, error) {
	k, err := NewKeeper(slog.Default())
	if err == nil {
		k.mu.Lock()
		k.unclaimedTimeout = 0
		k.mu.Unlock()
	}
	return k, err
}

// Fork lets the Keeper believe that a program is being started, until over is called.
func (k *Keeper) Fork() (over func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastFork++
	number := k.lastFork
	k.forks[number] = true
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.forks, number)
	}
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

// Orphans lists what KillOrphans would kill, in rising order.
func Orphans(match func(environ []string) bool) []int { return orphans(snapshot(), match) }
