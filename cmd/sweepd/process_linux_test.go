package main_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"mlframework/internal/invariants"
	"mlframework/internal/processtest"
	"mlframework/sweep/task"
)

func alive(pid int) bool {
	_, alive := processtest.Find(pid)
	return alive
}

// attempts lists the processes of attempts that run below a folder.
func attempts(folder string) (all []invariants.Start) {
	for _, p := range processtest.Running() {
		id, err := task.ParseID(p.Environ["TASK_ID"])
		if err != nil || !strings.HasPrefix(p.Environ["OUTPUT_DIR"], folder+"/") {
			continue
		}
		number, _ := strconv.Atoi(p.Environ["ATTEMPT"])
		all = append(all, invariants.Start{Task: id, Attempt: number, Worker: p.Environ["WORKER"],
			PID: p.PID})
	}
	return all
}

// child is the first process below another; 0: none.
func child(of int) int {
	for _, p := range processtest.Running() {
		if p.Parent == of {
			return p.PID
		}
	}
	return 0
}

// resident is the memory of a process, in kB.
func resident(pid int) (kB int) {
	return statusField(pid, "VmRSS")
}

// highWater is the greatest memory that a process ever had, in kB.
func highWater(pid int) (kB int) { return statusField(pid, "VmHWM") }

// statusField reads a size from /proc/PID/status; 0 when the process is gone.
func statusField(pid int, name string) (kB int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, name+": %d kB", &kB); err == nil {
			return kB
		}
	}
	return 0
}

// freeze stops a process without ending it; what it gives lets the process go on, and so does the
// end of the test.
func freeze(t *testing.T, pid int) (thaw func()) {
	t.Helper()
	processtest.Stop(t, pid)
	// it may have been killed
	thaw = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	t.Cleanup(thaw)
	return thaw
}
