package main_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// polite ends with SIGTERM, and says so in a file.
const polite = `trap 'echo stopped >> ../../../stopped; exit 1' TERM
test "$TASK_INDEX" = 0 && exit
until test -e ../../../go; do sleep 0.02; done
`

// The first Ctrl-C stops what runs with its grace and pauses the sweep.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 30s", polite)
			c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
			f.running(3)
			f.signal(c, s)
			if s != syscall.SIGINT { // timeout(1) and terminals send it twice
				f.signal(c, s)
			}
			if code := c.wait(); code != 130 {
				t.Errorf("exit code %d", code)
			}
			for _, want := range []string{"stopping work-1; press Ctrl-C again to kill its " +
				"tasks now\n", "work-1 is paused (interrupted); to continue: run-tasks " +
				"resume work-1\n"} {
				if !strings.Contains(c.stderr.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, c.stderr)
				}
			}
			if got := f.lines("stopped"); len(got) != 2 {
				t.Errorf("%d attempts got SIGTERM", len(got))
			}
			f.dead(0, c.pid())
			f.complete("--slots", "2")
		})
	}
}

// With nohup, a sweep goes on when its terminal is closed.
func TestHangupUnderNohup(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", polite)
	cmd := exec.Command("sh", "-c", `trap '' HUP; exec "$0" "$@"`, program, "--local", "-d", "p",
		"--slots", "2", "work")
	cmd.Dir = f.dir
	c := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	f.running(3)
	f.signal(c, syscall.SIGHUP)
	f.write("go", "")
	if code := c.wait(); code != 0 || !strings.Contains(c.stdout.String(), "4 succeeded") {
		t.Errorf("exit code %d: %s%s", code, c.stdout, c.stderr)
	}
	if got := f.lines("stopped"); len(got) > 0 {
		t.Errorf("%d attempts got SIGTERM", len(got))
	}
}

// signal is what a terminal does: the whole group gets it.
func (f folder) signal(c *call, s syscall.Signal) {
	f.t.Helper()
	if err := syscall.Kill(-c.pid(), s); err != nil {
		f.t.Fatal(err)
	}
}

// The second Ctrl-C leaves at once, whatever the programs think of it.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.signal(c, syscall.SIGINT)
	eventually(t, deadline, "it stops", func() bool {
		return strings.Contains(c.stderr.String(), "Ctrl-C again")
	})
	// It need not be the same.
	f.signal(c, syscall.SIGTERM)
	f.dead(deadline, c.pid())
	if code := c.wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	f.complete("--slots", "2")
}

// Ctrl-\ kills the tasks at once; it prints no trace.
func TestQuit(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.signal(c, syscall.SIGQUIT)
	c.ends(130)
	if said := c.stderr.String(); said != "killed the tasks of work-1; to continue: run-tasks resume "+
		"work-1\n" {
		t.Errorf("it says %s", said)
	}
	f.dead(deadline)
	f.complete("--slots", "2")
}

// Ctrl-C ends who follows, and not what is followed.
func TestFollowerInterrupted(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", polite)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	follower := f.start(nil, "follow")
	follower.shows("following work-1: ")
	f.signal(follower, syscall.SIGINT)
	if code := follower.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if want := "work-1 keeps running; to follow it: run-tasks follow work-1\n"; !strings.HasSuffix(
		follower.stderr.String(), want) {
		t.Errorf("it says %q", follower.stderr)
	}
	f.write("go", "")
	if code := c.wait(); code != 0 {
		t.Errorf("the sweep: exit code %d: %s", code, c.stdout)
	}
}
