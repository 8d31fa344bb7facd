package main_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"mlframework/sweep/history"
	"mlframework/sweep/task"
)

// process is a process that lives.
type process struct {
	pid, parent int
	environ     map[string]string
}

// processes lists those that live; zombies do not.
func processes() (all []process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, alive := look(pid); alive {
				all = append(all, p)
			}
		}
	}
	return all
}

func look(pid int) (p process, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// pid (name) state parent: the name may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if fields[0] == "Z" || fields[0] == "X" {
		return p, false
	}
	p = process{pid: pid, environ: map[string]string{}}
	p.parent, _ = strconv.Atoi(fields[1])
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for variable := range strings.SplitSeq(string(environ), "\x00") {
		name, value, _ := strings.Cut(variable, "=")
		p.environ[name] = value
	}
	return p, true
}

func alive(pid int) bool {
	_, alive := look(pid)
	return alive
}

// attempts lists the processes of attempts that run below a folder.
func attempts(folder string) (all []history.Start) {
	for _, p := range processes() {
		id, err := task.ParseID(p.environ["TASK_ID"])
		if err != nil || !strings.HasPrefix(p.environ["OUTPUT_DIR"], folder+"/") {
			continue
		}
		number, _ := strconv.Atoi(p.environ["ATTEMPT"])
		all = append(all, history.Start{Task: id, Attempt: number, Worker: p.environ["WORKER"], PID: p.pid})
	}
	return all
}

// child is the first process below another; 0: none.
func child(of int) int {
	for _, p := range processes() {
		if p.parent == of {
			return p.pid
		}
	}
	return 0
}

// kill sends SIGKILL to all of them. They are stopped first, so that none sees the end of another.
func kill(pids ...int) {
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal) // it may have ended
		}
	}
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

// freeze stops a process without ending it; what it gives lets the process go on, and so does the end of the test.
func freeze(t *testing.T, pid int) (thaw func()) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	thaw = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may have been killed
	t.Cleanup(thaw)
	return thaw
}
