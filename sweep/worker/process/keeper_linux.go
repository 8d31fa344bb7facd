package process

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// sweepInterval is how often adopted processes are looked for while no program ends.
const sweepInterval = 500 * time.Millisecond

// current is the Keeper of this process. There can be only one: the kernel hands
// adopted processes to the process, not to a Keeper.
var current atomic.Pointer[Keeper]

// Keeper owns every process below this one. A process has at most one at a time. All methods may be
// called concurrently.
type Keeper struct {
	log      *slog.Logger
	pid, sid int
	nullFD   int // descriptor of /dev/null
	// the main thread's children file; -1 if the kernel has none
	childrenFD int
	pidfds     bool
	tagBase    uint64        // see newTagBase
	cgroups    *cgroups      // nil: none
	linger     time.Duration // see defaultLinger
	oom        oomWatch
	// nil: programs are not confined
	sandbox     *sandbox
	closed      atomic.Bool
	leaving     atomic.Bool    // by KillAll
	active      sync.WaitGroup // calls of Run
	quit        chan struct{}
	done        chan struct{}
	releaseOnce sync.Once

	// guards what follows, and is held for every wait4 and every reading of children
	mu   sync.Mutex
	runs map[*run]struct{}
	// by pid, until it is reaped
	roots   map[int]*run
	adopted map[int]*adoptedProcess
	// event descriptors for reuse
	freeWakers []int
}

// NewKeeper makes this process a child subreaper and starts to reap adopted processes. It sets
// close-on-exec on inherited descriptors other than 0, 1 and 2, so that no program gets them. It
// fails if another Keeper exists. A nil log is slog.Default.
func NewKeeper(log *slog.Logger) (*Keeper, error) {
	if log == nil {
		log = slog.Default()
	}
	k := &Keeper{
		log: log, pid: os.Getpid(), childrenFD: -1, tagBase: newTagBase(),
		linger: defaultLinger, quit: make(chan struct{}), done: make(chan struct{}),
		runs: map[*run]struct{}{}, roots: map[int]*run{}, adopted: map[int]*adoptedProcess{},
	}
	if !current.CompareAndSwap(nil, k) {
		return nil, errors.New("keep processes: this process has a keeper already")
	}
	if err := k.open(); err != nil {
		current.Store(nil)
		return nil, fmt.Errorf("keep processes: %w", err)
	}
	go k.sweep()
	return k, nil
}

func (k *Keeper) open() (err error) {
	setCloseOnExec()
	if k.sid, err = unix.Getsid(0); err != nil {
		return fmt.Errorf("own session: %w", err)
	}
	if err = becomeSubreaper(); err != nil {
		return fmt.Errorf("become child subreaper: %w", err)
	}
	if k.nullFD, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	file := fmt.Sprintf("/proc/self/task/%d/children", k.pid)
	if k.childrenFD, err = unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		k.childrenFD = -1
		k.log.Warn("the kernel lists no children: /proc is walked at the end of every program",
			"file", file, "error", err)
	}
	// Linux 5.3, and not forbidden by a seccomp filter
	if fd, err := unix.PidfdOpen(k.pid, 0); err == nil {
		k.pidfds = true
		unix.Close(fd)
	}
	if k.cgroups, err = openCgroups(); err != nil {
		k.log.Debug("programs get no cgroups of their own", "error", err)
	}
	k.oom.open()
	return nil
}

// setCloseOnExec sets close-on-exec on descriptors that this process inherited, other than 0, 1 and
// 2. Go sets it on those that it opens.
func setCloseOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil { // Linux 5.11
		return
	}
	all, _ := os.ReadDir("/proc/self/fd") // without it, programs inherit more than they should
	for _, fd := range all {
		if n, ok := parseNumber([]byte(fd.Name())); ok && n > 2 {
			unix.CloseOnExec(n)
		}
	}
}

// sweep looks for adopted processes, and kills what is left of ended programs, until the Keeper is
// closed.
func (k *Keeper) sweep() {
	defer close(k.done)
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-k.quit:
			return
		case <-tick.C:
			k.mu.Lock()
			k.updateAdopted(true)
			k.killAbandoned()
			k.mu.Unlock()
			k.oom.sample(time.Now())
		}
	}
}
