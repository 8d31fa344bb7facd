// Package main_test runs the real program as processes of their own, with a real RabbitMQ between
// them, and does to them what happens to clusters. It looks into /proc: on Linux.
//
// FAULTS=long runs more tasks and more faults, and keeps the folders of what failed. FAULTS_SEED=N
// repeats the choices of an earlier run. FAULTS_LOGS=1 shows what the parts logged also where all
// went well.
package main_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mlframework/sweep/queue/queuetest/broker"
)

// program is the real binary: a worker starts itself again, which a command inside the test binary
// could not.
var program string

// shared is the broker of the tests that leave it alone; those that take it down have their own.
var shared = broker.Shared{Options: broker.Options{TLS: true}}

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6") // a number is valid; the tests mostly wait for processes
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "sweepd-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o755); err != nil { // some tests run the program as another user
			panic(err)
		}
		program = filepath.Join(dir, "sweepd")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build sweepd: %v\n%s", err, out)
			return 1
		}
		defer shared.Stop()
		return m.Run()
	}())
}

// dependOnSources looks at every folder that the program is built from, so that `go test` does not
// take a result for good that an older program gave: it knows what a test reads, not what it
// builds.
func dependOnSources(t testing.TB) {
	for _, top := range []string{"../../cmd", "../../sweep"} {
		if err := filepath.WalkDir(top, func(string, fs.DirEntry, error) error {
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// long tells whether there is time for more tasks and more faults.
func long() bool { return os.Getenv("FAULTS") == "long" }

// most is one number in the usual run, and another in the long one.
func most(usual, inLong int) int {
	if long() {
		return inLong
	}
	return usual
}
