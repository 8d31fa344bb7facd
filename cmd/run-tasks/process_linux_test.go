package main_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is a process that lives.
type process struct {
	pid, parent int
	environ     string
}

func processes() (all []process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// pid (name) state parent: the name may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		all = append(all, process{pid, parent, string(environ)})
	}
	return all
}

// killMarked kills the processes that have a variable in their environment.
func killMarked(variable string) {
	for _, p := range processes() {
		if slices.Contains(strings.Split(p.environ, "\x00"), variable) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}
