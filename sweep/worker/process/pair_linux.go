package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// cleanupTimeout limits the time that one process of the pair spends on the processes that the
// other left behind.
const cleanupTimeout = 1500 * time.Millisecond

func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// ownProgram returns the executable of this process, even if the file has been replaced since.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// nameProcess sets the name of the main thread, which is the name of the process (proc(5), comm).
// It works from any thread.
func nameProcess(name string) {
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0) // a name is a comfort
}

// onGuardDeath kills all descendants of the executor after the guard has died.
func onGuardDeath() {
	if k := current.Load(); k != nil {
		k.KillAll()
		return
	}
	killDescendants(os.Getpid(), time.Now().Add(cleanupTimeout), func(int) bool { return true })
}

// killExecutorLeftovers kills and reaps what a dead executor left to the guard.
func killExecutorLeftovers() {
	defer killLeftoverCgroups() // which are empty then
	killLeftoverCgroups()
	until := time.Now().Add(cleanupTimeout)
	for {
		alive := killDescendants(os.Getpid(), time.Now(), func(int) bool { return true })
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return // no children: nothing is below
			}
			if err != unix.EINTR && pid <= 0 {
				break
			}
		}
		if alive > 0 && time.Now().After(until) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
