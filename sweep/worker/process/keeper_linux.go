package process

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// every is how often strangers are looked for while nothing ends.
const every = 500 * time.Millisecond

// living is the Keeper of this process. There can be one: orphans come to the process, not to a Keeper.
var living atomic.Pointer[Keeper]

// Keeper owns every process below this one. A process has at most one at a time. All methods may be called
// concurrently.
type Keeper struct {
	log       *slog.Logger
	pid, sid  int
	null      int // descriptor of /dev/null
	children  int // descriptor of the main thread's children file, -1 where the kernel has none
	pidfds    bool
	tags      uint64        // below those of this Keeper's programs; another Keeper's are elsewhere
	patience  time.Duration // see reapForgotten
	linger    time.Duration // see usualLinger
	oom       oomWatch
	cage      *cage // nil: programs are not confined
	closed    atomic.Bool
	abandoned atomic.Bool    // by KillAll
	active    sync.WaitGroup // calls of Run
	quit      chan struct{}
	done      chan struct{}
	once      sync.Once

	mu        sync.Mutex // guards what follows, and is held for every wait4 and every reading of children
	runs      map[*run]struct{}
	roots     map[int]*run // by pid, until it is reaped
	strangers map[int]*stranger
	wakers    []int             // event descriptors for use again
	forgotten map[int]time.Time // dead children in this process's session, since when
	forks     map[uint64]bool   // forks that are not yet in roots, by number
	lastFork  uint64
}

// NewKeeper makes this process a child subreaper and begins to reap strangers. Descriptors beyond 0, 1 and 2 that this
// process has inherited become close-on-exec: no program gets them. It fails when a Keeper is living.
// A nil log is slog.Default.
func NewKeeper(log *slog.Logger) (*Keeper, error) {
	if log == nil {
		log = slog.Default()
	}
	k := &Keeper{
		log: log, pid: os.Getpid(), children: -1, tags: 1<<62 | uint64(rand.Uint32())<<30, patience: time.Minute,
		linger: usualLinger,
		quit:   make(chan struct{}), done: make(chan struct{}),
		runs: map[*run]struct{}{}, roots: map[int]*run{}, strangers: map[int]*stranger{}, forks: map[uint64]bool{},
		forgotten: map[int]time.Time{},
	}
	if !living.CompareAndSwap(nil, k) {
		return nil, errors.New("keep processes: this process has a keeper already")
	}
	if err := k.open(); err != nil {
		living.Store(nil)
		return nil, fmt.Errorf("keep processes: %w", err)
	}
	go k.sweep()
	return k, nil
}

func (k *Keeper) open() (err error) {
	if k.sid, err = unix.Getsid(0); err != nil {
		return fmt.Errorf("own session: %w", err)
	}
	if err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become child subreaper: %w", err)
	}
	if k.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	file := fmt.Sprintf("/proc/self/task/%d/children", k.pid)
	if k.children, err = unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		k.children = -1
		k.log.Warn("the kernel lists no children; every end of a program walks over /proc", "file", file, "error", err)
	}
	if fd, err := unix.PidfdOpen(k.pid, 0); err == nil { // Linux 5.3, and not forbidden by a seccomp filter
		k.pidfds = true
		unix.Close(fd)
	}
	k.oom.open()
	keepDescriptors()
	return nil
}

// keepDescriptors marks what this process has inherited beyond 0, 1 and 2 as close-on-exec; what Go opens is so anyway.
func keepDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil { // Linux 5.11
		return
	}
	all, _ := os.ReadDir("/proc/self/fd") // without it, programs inherit more than they should
	for _, fd := range all {
		if n, ok := number([]byte(fd.Name())); ok && n > 2 {
			unix.CloseOnExec(n)
		}
	}
}

// sweep looks for strangers, and ends what is left of programs that are over, until the Keeper is closed.
func (k *Keeper) sweep() {
	defer close(k.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-k.quit:
			return
		case <-tick.C:
			k.mu.Lock()
			k.look(true)
			k.killAbandoned(time.Now())
			k.reapForgotten(time.Now())
			k.mu.Unlock()
			k.oom.sample(time.Now())
		}
	}
}

// reapForgotten reaps dead children in this process's own session after a minute. Most are what programs left that other
// code ran (os/exec): orphans come to a subreaper from everywhere. Some may be programs of that code itself, which it is
// about to wait for: hence the patience. Call it with k.mu held.
func (k *Keeper) reapForgotten(now time.Time) {
	dead := map[int]time.Time{}
	for _, pid := range k.childrenOf(true) {
		if k.roots[pid] != nil || k.strangers[pid] != nil {
			continue
		}
		if p, ok := statOf(pid); !ok || p.state != 'Z' || p.session != k.sid {
			continue
		}
		since, known := k.forgotten[pid]
		if !known {
			since = now
		}
		if now.Sub(since) < k.patience || !k.reap(pid) {
			dead[pid] = since
		}
	}
	k.forgotten = dead
}
