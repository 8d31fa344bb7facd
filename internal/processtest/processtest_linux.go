// Package processtest finds, stops and kills processes, as tests of programs that start others do.
//
// Only tests import it. Its functions may be called concurrently.
package processtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds the wait for a process that was told to stop.
const patience = time.Minute

// Process is a process that lives.
type Process struct {
	PID, Parent int
	Environ     map[string]string // nil: it may not be read
}

// Running lists the processes that live; zombies do not.
func Running() (all []Process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, alive := Find(pid); alive {
				all = append(all, p)
			}
		}
	}
	return all
}

// Find returns a process, and whether it lives.
func Find(pid int) (p Process, alive bool) {
	fields := stat(fmt.Sprintf("/proc/%d/stat", pid))
	if fields == nil || fields[0] == "Z" || fields[0] == "X" {
		return p, false
	}
	p.PID = pid
	p.Parent, _ = strconv.Atoi(fields[1])
	if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
		p.Environ = map[string]string{}
		for variable := range strings.SplitSeq(string(environ), "\x00") {
			name, value, _ := strings.Cut(variable, "=")
			p.Environ[name] = value
		}
	}
	return p, true
}

// Stop stops processes, and returns when they stand still: the signal reaches a thread at the
// latest when that runs again, which on a busy machine is some time after kill(2) has returned.
// Those that have ended are left out.
func Stop(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
	for late := time.Now().Add(patience); slices.ContainsFunc(pids, moves); time.Sleep(
		time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("the processes %v do not stand still", pids)
		}
	}
}

// Kill ends processes with SIGKILL. They are stopped first, so that none sees the end of another,
// and children are to be named behind their parents: the last ends first, as a stopped process that
// loses its parent may be let go on (setpgid(2), orphaned process groups).
func Kill(t testing.TB, pids ...int) {
	t.Helper()
	Stop(t, pids...)
	for _, pid := range slices.Backward(pids) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// moves reports whether a thread of a process is neither stopped nor dead.
func moves(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(threads, func(file string) bool {
		fields := stat(file)
		return fields != nil && !strings.Contains("TtZX", fields[0])
	})
}

// stat is the fields of /proc/PID/stat from the state on; nil when there is no such process. They
// follow its name in parentheses, which may hold anything.
func stat(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
