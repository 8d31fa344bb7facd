package main_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Neither master, worker nor a program of a task leaves a core file, which would hold the values of
// secrets.
func TestNoCoreFiles(t *testing.T) {
	t.Parallel()
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &own); err != nil || own.Max == 0 {
		t.Skipf("core files are off for all that starts here: %v, %v", own, err)
	}
	own.Cur = own.Max // what is started from here inherits it
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &own); err != nil {
		t.Fatal(err)
	}
	s := open(t)
	c := newCluster(t, s)
	w := c.worker("w1", s)
	id := c.sweep("core", `[ "$(ulimit -Hc)" = 0 ] || exit 1`, 1)
	c.ended(patience, id)
	c.succeeded(id)
	for name, pid := range map[string]int{"master": c.master.guard(), "worker's guard": w.guard(),
		"worker": w.executor()} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if limits, is := strings.CutPrefix(line, "Max core file size"); is &&
				strings.Join(strings.Fields(limits), " ") != "0 0 bytes" {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
