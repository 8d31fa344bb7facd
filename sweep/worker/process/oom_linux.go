package process

import (
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// oomWindow is how long after a kill by the kernel a program's end may be attributed to it: the
// kernel may take seconds to free the memory of what it killed.
const oomWindow = 10 * time.Second

// oomWatch counts kills for lack of memory in the cgroup of this process.
type oomWatch struct {
	mu sync.Mutex
	// -1: no counter
	fd         int
	last, past uint64
	rotated    time.Time
}

func (o *oomWatch) open() {
	o.fd = -1
	cgroup, _ := os.ReadFile("/proc/self/cgroup") // without it, the host's counter
	for _, file := range oomFiles(string(cgroup)) {
		fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		o.fd = fd
		if n, ok := o.read(); ok {
			o.last, o.past, o.rotated = n, n, time.Now()
			return
		}
		o.close()
	}
}

func (o *oomWatch) close() {
	if o.fd >= 0 {
		unix.Close(o.fd)
		o.fd = -1
	}
}

func (o *oomWatch) read() (uint64, bool) {
	if o.fd < 0 {
		return 0, false
	}
	buf := make([]byte, 32<<10) // vmstat has 4 KiB
	n, err := unix.Pread(o.fd, buf, 0)
	if err != nil || n <= 0 {
		return 0, false
	}
	return parseOOMKills(buf[:n])
}

// sample forgets kills that are older than oomWindow, or up to twice that. Call it regularly.
func (o *oomWatch) sample(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.rotated) < oomWindow {
		return
	}
	if n, ok := o.read(); ok {
		o.past, o.last, o.rotated = max(o.past, o.last), n, now
	}
}

// claim reports whether a kill explains a SIGKILL that was seen now, and consumes it: each kill
// explains one.
func (o *oomWatch) claim() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.read()
	if !ok || n <= o.past {
		return false
	}
	o.past++
	return true
}

// oomScoreDelays are the ages of a program at which raiseOOMScore is called: shorter programs do
// not fill the memory, and the call would slow down a program of a millisecond. The second call
// finds processes that were being forked at the first.
var oomScoreDelays = [...]time.Duration{20 * time.Millisecond, 200 * time.Millisecond}

// raiseOOMScore makes the kernel kill a program, its children and theirs before this process when
// memory is short (proc(5), oom_score_adj); what they fork from then on inherits the score. Errors
// are ignored: the program may belong to another user or may have ended.
func raiseOOMScore(pid int) {
	family := []int{pid}
	for i := 0; i < len(family) && i < 1000; i++ {
		own := "/proc/" + strconv.Itoa(family[i])
		fd, err := unix.Open(own+"/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		_, _ = unix.Write(fd, []byte("500"))
		unix.Close(fd)
		var buf [4096]byte
		family = parsePIDs(readProc(family[i], "task/"+strconv.Itoa(family[i])+"/children", buf[:]),
			family)
	}
}
