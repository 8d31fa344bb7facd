package process

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanConfine returns why programs cannot be confined on this system, or only in part; nil: they
// can.
func CanConfine() error {
	_, files := landlockABI()
	calls := canFilter()
	if files != nil && calls != nil {
		return fmt.Errorf("%w; %w", files, calls)
	}
	return cmp.Or(files, calls)
}

// Privileged reports whether this process is root or has capabilities. Programs that it starts
// cannot be confined reliably: root can write to the kernel settings in /proc/sys, and thereby have
// programs executed outside, without any capability.
func Privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // 32 capabilities each
	err := unix.Capget(&header, &sets[0])
	return err != nil || os.Geteuid() == 0 || sets[0].Permitted|sets[1].Permitted != 0
}

// sandbox confines programs. It is safe for concurrent use.
type sandbox struct {
	// of system calls; empty if the kernel supports none
	filter []unix.SockFilter
	// the kernel supports Landlock; the rest is for it
	landlock bool

	hidden, readOnly []string // resolved
	writable         []string
	attr             unix.LandlockRulesetAttr

	mu    sync.Mutex
	rules []rule
	// folders on the way to protected ones
	leading []leading
}

// Confine confines all programs that Run starts from now on, as far as the kernel supports it: see
// CanConfine. Call it before the first Run.
func (k *Keeper) Confine(c Confinement) error {
	s := &sandbox{}
	if canFilter() == nil {
		s.filter = limitsFilter()
	}
	if abi, err := landlockABI(); err == nil {
		if err := s.protect(c, abi); err != nil {
			return fmt.Errorf("confine programs: %w", err)
		}
	}
	k.sandbox = s
	return nil
}

// forkExec is syscall.ForkExec; the program is confined if k confines programs.
func (k *Keeper) forkExec(file string, s *Spec, attr *syscall.ProcAttr) (pid int, err error) {
	if k.sandbox == nil {
		return syscall.ForkExec(file, s.Argv, attr)
	}
	onOwnThread(func() {
		if err = k.sandbox.enter(s.Own); err == nil {
			pid, err = syscall.ForkExec(file, s.Argv, attr)
		}
	})
	return pid, err
}

// onOwnThread calls f on a thread that ends with f, so that no other goroutine meets the changes
// that f makes to the thread. The main thread cannot end and represents the whole process to
// others: while it is held here, f gets another thread.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// enter confines the calling thread and everything that it will start, for good. Its errors do not
// wrap an errno, which would be taken for the program's.
func (s *sandbox) enter(own []string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine the program: no new privileges: %v", err)
	}
	if s.landlock {
		if err := s.restrict(own); err != nil {
			return fmt.Errorf("confine the program: %v", err)
		}
	}
	if len(s.filter) > 0 {
		if err := filterCalls(s.filter); err != nil {
			return fmt.Errorf("confine the program: %v", err)
		}
	}
	return nil
}
