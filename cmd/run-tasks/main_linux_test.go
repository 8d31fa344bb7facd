// Package main_test runs the real program as a person does. It looks into /proc, mounts and opens
// terminals: on Linux.
package main_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// program is the real binary: it starts itself again, which a command inside the test binary could
// not.
var program string

func TestMain(m *testing.M) {
	if dir := os.Getenv(masterFolder); dir != "" {
		os.Exit(serveMaster(dir))
	}
	// Most tests have a project in a folder of its own below the one that they look at.
	if err := os.Setenv("MLFRAMEWORK_STORE", "."); err != nil {
		panic(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup: programs that tests start would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6") // a number is valid; the tests mostly wait for processes
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "run-tasks-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o755); err != nil { // for tests that run as another user
			panic(err)
		}
		program = filepath.Join(dir, "run-tasks")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build run-tasks: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// dependOnSources looks at every folder that the program is built from, so that `go test` does not
// take a result for good that an older program gave: it knows what a test reads, not what it
// builds.
func dependOnSources(t *testing.T) {
	for _, top := range []string{"../../cmd", "../../sweep", "../../projects"} {
		if err := filepath.WalkDir(top, func(string, fs.DirEntry, error) error {
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScripts runs testdata/script/*.txtar. Beside the usual commands they have those of
// scriptCommands.
func TestScripts(t *testing.T) {
	t.Parallel()
	dependOnSources(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scriptCommands, Condition: scriptCondition,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+e.Getenv("PATH"))
			events, err := filepath.Abs(
				"../../sweep/metric/reader/testdata/events.out.tfevents.scalars")
			if err != nil {
				return err
			}
			e.Setenv("TFEVENTS", events)
			e.Setenv("MLFRAMEWORK_STORE", ".") // see TestMain
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			// GPUs have the same UUIDs in all scripts
			locks := filepath.Join(e.WorkDir, ".gpu-locks")
			e.Setenv("MLFRAMEWORK_GPU_LOCKS", locks)
			if err := os.Mkdir(locks, 0o700); err != nil {
				return err
			}
			// A script that fails waits for what it left in the background; one that is slow is not
			// to be taken for it.
			watchdog := time.AfterFunc(5*time.Minute, func() { killMarked("WORK=" + e.WorkDir) })
			e.Defer(func() { watchdog.Stop() })
			return nil
		},
	})
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"code":   codeCommand,
	"until":  untilCommand,
	"clean":  cleanCommand,
	"tmpfs":  tmpfsCommand,
	"fill":   fillCommand,
	"master": masterCommand,
	"say":    sayCommand,
}

// code N PROGRAM ARG... runs a program that must end with exit code N.
func codeCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// until PROGRAM ARG... runs a program again and again until it succeeds.
func untilCommand(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(deadline); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still %v", err)
		}
	}
}

// clean stdout|stderr|FILE fails when there is a control character other than the end of a line and
// tabs.
func cleanCommand(ts *testscript.TestScript, _ bool, args []string) {
	for i, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		for _, r := range line {
			if unicode.IsControl(r) && r != '\t' {
				ts.Fatalf("line %d holds %q: %q", i+1, r, line)
			}
		}
	}
}

// tmpfs FOLDER OPTIONS mounts an empty file system, or changes the options of one.
func tmpfsCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	var flags uintptr
	if mounted(dir) {
		flags |= syscall.MS_REMOUNT
	} else {
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Defer(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	options := args[1]
	if options == "ro" {
		flags, options = flags|syscall.MS_RDONLY, ""
	}
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags, options))
}

func mounted(dir string) bool {
	var here, above syscall.Stat_t
	return syscall.Stat(dir, &here) == nil && syscall.Stat(filepath.Dir(dir), &above) == nil &&
		here.Dev != above.Dev
}

// fill FILE writes until the disk is full.
func fillCommand(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	for _, size := range []int{1 << 16, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			ts.Fatalf("%v", err)
		}
	}
}

// scriptCondition knows [tmpfs]: file systems can be mounted here.
func scriptCondition(name string) (bool, error) {
	if name != "tmpfs" {
		return false, fmt.Errorf("there is no condition %s", name)
	}
	dir, err := os.MkdirTemp("", "tmpfs-")
	if err != nil {
		return false, err
	}
	defer os.Remove(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") != nil {
		return false, nil
	}
	return true, syscall.Unmount(dir, 0)
}
