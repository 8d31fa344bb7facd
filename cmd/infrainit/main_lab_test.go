// Package main_test is the person at a laptop: it runs the real program, and infra-clean, against hosts of a lab.
//
// FAULTS=long runs what is rare or slow, too.
package main_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// installed is the folder of the programs: the commands, with sweepd for hosts beside them. It is made when a test first has hosts.
var installed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "infrainit-test-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // a laptop may belong to somebody else
		return dir, err
	}
	for program, to := range map[string]string{
		"../infrainit": "infrainit", "../check-status": "check-status", "../run-tasks": "run-tasks", "../update-files": "update-files",
		"../sweepd": "linux-amd64/sweepd",
	} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, to), program)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if used {
		if dir, _ := installed(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// used tells that there is something to remove.
var used bool

// slow leaves a test out that takes a minute or more, unless there is time.
func slow(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("NOT TESTED: it takes minutes; FAULTS=long runs it")
	}
}

// long tells whether there is time for what is rare or slow.
func long() bool { return os.Getenv("FAULTS") == "long" }
