package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/processtest"
)

// patience is how long anything may take that takes seconds at most, on a machine that does many
// things at once.
const patience = 30 * time.Second

// eventually waits until something is so, and fails the test when it does not become so in time.
func eventually(t testing.TB, limit time.Duration, what string, so func() bool) {
	t.Helper()
	if !becomes(limit, so) {
		t.Fatalf("after %v it is still not so: %s", limit, what)
	}
}

// becomes waits until something is so; false when it does not become so in time.
func becomes(limit time.Duration, so func() bool) bool {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.After(limit); !so(); {
		select {
		case <-look.C:
		case <-late:
			return false
		}
	}
	return true
}

// daemon is a part of a cluster that can be started again. It is for one goroutine.
type daemon struct {
	t    testing.TB
	name string
	args []string
	log  string // a file, of all its starts
	cmd  *exec.Cmd
	over chan struct{}       // closed when the process that was started has ended
	as   *syscall.Credential // nil: the user who runs the tests
	env  []string            // beside that of the tests

	starts int
}

// newDaemon describes a call of the program, whose log is in a folder; start starts it. It ends
// with the test.
func newDaemon(t testing.TB, folder, name string, args ...string) *daemon {
	d := &daemon{t: t, name: name, args: args, log: filepath.Join(folder, name+".log")}
	t.Cleanup(func() {
		d.kill()
		if t.Failed() || os.Getenv("FAULTS_LOGS") != "" {
			t.Logf("the log of %s ends so:\n%s", name, d.tail(60))
		}
	})
	return d
}

func (d *daemon) start() {
	d.t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, d.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), d.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: d.as}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait() // exitCode has it
	}()
	d.cmd, d.over = cmd, over
	d.starts++
}

// begun waits until a worker that was started has ended what an earlier one left, and begins its
// work.
func (d *daemon) begun() {
	d.t.Helper()
	eventually(d.t, patience, d.name+" begins", func() bool {
		return strings.Count(d.said(), "worker started") == d.starts
	})
}

func (d *daemon) running() bool {
	if d.cmd == nil {
		return false
	}
	select {
	case <-d.over:
		return false
	default:
		return true
	}
}

// guard is the process that was started, executor the one that it started, in a worker; 0: there is
// none.
func (d *daemon) guard() int    { return d.cmd.Process.Pid }
func (d *daemon) executor() int { return child(d.guard()) }

// kill ends the daemon at once, with what it started, and waits for that.
func (d *daemon) kill() {
	if d.running() {
		d.killOf(d.guard(), d.executor())
	}
}

// killOf kills some of its processes and waits until all of them have ended: who is left must see
// it.
func (d *daemon) killOf(pids ...int) {
	d.t.Helper()
	pair := []int{d.guard(), d.executor()}
	var there []int
	for _, pid := range pids {
		if pid != 0 {
			there = append(there, pid)
		}
	}
	processtest.Kill(d.t, there...)
	select {
	case <-d.over:
	case <-time.After(patience):
		d.t.Fatalf("%s was killed and lives", d.name)
	}
	eventually(d.t, patience, "both processes of "+d.name+" have ended", func() bool {
		return pair[1] == 0 || !alive(pair[1])
	})
}

// signal sends a signal to the process that was started.
func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatalf("send %v to %s: %v", s, d.name, err)
	}
}

// exitCode waits for the end.
func (d *daemon) exitCode() int {
	d.t.Helper()
	select {
	case <-d.over:
	case <-time.After(patience):
		d.t.Fatalf("%s does not end", d.name)
	}
	return d.cmd.ProcessState.ExitCode()
}

// said is all that it logged.
func (d *daemon) said() string {
	text, err := os.ReadFile(d.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	return string(text)
}

func (d *daemon) tail(lines int) string {
	all := strings.SplitAfter(d.said(), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}
