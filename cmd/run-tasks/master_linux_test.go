package main_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/api"
)

// shows waits until a call has printed something.
func (c *call) shows(what string) {
	c.t.Helper()
	eventually(c.t, deadline, fmt.Sprintf("it shows %q", what), func() bool {
		return strings.Contains(c.stdout.String()+c.stderr.String(), what)
	})
}

// waiting is a task that says so until it is let go: who begins to follow a little later sees it,
// too.
const waiting = `test "$TASK_INDEX" = 0 && exit
until test -e ../../../go; do echo waiting; sleep 0.05; done
`

var tagged = regexp.MustCompile(`(?m)^work-1/[123] gpu1:[01] \| waiting$`)

// Ctrl-C leaves the sweep running, and says how to see it again.
func TestDetached(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "work")
	c.shows("| waiting")
	if !tagged.MatchString(c.stdout.String()) {
		t.Errorf("no line is tagged by task, host and slot:\n%s", c.stdout)
	}
	f.signal(c, syscall.SIGINT)
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if want :=
		"work-1 keeps running; to follow it: run-tasks --master m.sock follow work-1\n"; c.stderr.String() != want {
		t.Errorf("it says %q", c.stderr)
	}
	again := f.start(nil, "--master", "m.sock", "follow", "work-1")
	f.write("go", "")
	if code := again.wait(); code != 0 || !strings.Contains(again.stdout.String(),
		"4 tasks: 4 succeeded") {
		t.Errorf("followed again: exit code %d: %s%s", code, again.stdout, again.stderr)
	}
}

// With --cancel-on-interrupt Ctrl-C cancels, and waits; the second leaves at once.
func TestAttached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		twice  bool
	}{"once": {waiting, false}, "twice": {stubborn, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 30s", c.script)
			f.master()
			call := f.start(nil, "--master", "m.sock", "-d", "p", "--cancel-on-interrupt", "work")
			f.running(3)
			f.signal(call, syscall.SIGINT)
			call.shows("work-1 is cancelled; waiting for its running tasks to stop; press Ctrl-C " +
				"again to quit now")
			if c.twice {
				f.signal(call, syscall.SIGTERM)
			}
			if code := call.wait(); code != 130 {
				t.Errorf("exit code %d: %s%s", code, call.stdout, call.stderr)
			}
			if !c.twice && !strings.Contains(call.stdout.String(), "3 cancelled") {
				t.Errorf("it says %s", call.stdout)
			}
			eventually(t, deadline, "it is cancelled", func() bool {
				text, _, _ := f.run("--master", "m.sock", "ls")
				return strings.Contains(text, "work-1  cancelled")
			})
		})
	}
}

// A master that is killed while somebody follows: that is said, and goes on with the next one.
// Nothing is told twice.
func TestTheMasterGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "work")
	c.shows("work-1/0 succeeded")
	c.shows("| waiting")
	m.kill()
	c.shows("note: lost the connection to the master (")
	f.write("go", "")
	f.master()
	c.shows("note: the master is back")
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i := range 4 {
		if n := strings.Count(c.stdout.String(), fmt.Sprintf("work-1/%d succeeded", i)); n != 1 {
			t.Errorf("the end of task %d was told %d times:\n%s", i, n, c.stdout)
		}
	}
	if !strings.Contains(c.stdout.String(), "4 tasks: 4 succeeded") {
		t.Errorf("it says:\n%s", c.stdout)
	}
}

// Who follows a master that is away can leave.
func TestDetachedWhileTheMasterIsAway(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "work")
	c.shows("| waiting")
	m.kill()
	c.shows("lost the connection to the master")
	f.signal(c, syscall.SIGINT)
	if code := c.wait(); code != 0 || !strings.Contains(c.stderr.String(),
		"work-1 keeps running; to follow it") {
		t.Errorf("exit code %d: %s", code, c.stderr)
	}
}

// A broker that is away is said before anything is submitted, and waited for a little.
func TestTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "true")
	m := f.master()
	m.say("away")
	client := api.Dial(f.path("m.sock"))
	t.Cleanup(client.Close)
	eventually(t, deadline, "it is away", func() bool {
		r, err := client.Ready(t.Context())
		return err == nil && !r.Ready
	})
	if _, stderr, code := f.run("--master", "m.sock", "-d", "p", "--dry-run", "work"); code != 0 ||
		stderr != "" {
		t.Errorf("it does not answer questions: exit code %d: %s", code, stderr)
	}
	long, short := f.start(nil, "--master", "m.sock", "-d", "p", "work"), f.start(nil, "--master",
		"m.sock", "-d", "p", "work")
	short.shows("note: the master is not ready: an outage was switched on, since ")
	long.shows("note: the master is not ready")
	f.signal(short, syscall.SIGINT)
	if code := short.wait(); code != 130 {
		t.Errorf("interrupted: exit code %d", code)
	}
	if code := long.wait(); code != 4 || !strings.Contains(long.stderr.String(),
		"nothing was changed; try again when that is over") {
		t.Errorf("exit code %d: %s", code, long.stderr)
	}
	c := f.start(nil, "--master", "m.sock", "-d", "p", "work")
	c.shows("the master is not ready")
	m.say("back")
	if code := c.wait(); code != 0 {
		t.Errorf("when it was back: exit code %d: %s%s", code, c.stdout, c.stderr)
	}
	if text, _, _ := f.run("--master", "m.sock", "ls"); strings.Count(text, "work-") != 1 {
		t.Errorf("more than one sweep: %s", text)
	}
}

// Workers that find files elsewhere: nothing is submitted, and that is said.
func TestTheFilesCannotBeBrought(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "true")
	f.master()
	if err := os.Remove(f.path("revisions")); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := f.run("--master", "m.sock", "-d", "p", "work")
	if code != 4 || !strings.Contains(stderr,
		"which is no folder of this machine\n  run this on the master's machine\n") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Output is followed while the task prints it, and ends with the task.
func TestLogsAreFollowed(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "test $TASK_INDEX = 0 || echo begun\n"+polite+"echo last\n")
	f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
	f.running(3)
	logs := f.start(nil, "--master", "m.sock", "logs", "-f", "work-1/1")
	logs.shows("begun\n")
	f.write("go", "")
	if code := logs.wait(); code != 0 || logs.stdout.String() != "begun\nlast\n" {
		t.Errorf("exit code %d: %q %s", code, logs.stdout, logs.stderr)
	}
	if code := c.wait(); code != 0 {
		t.Errorf("the sweep: exit code %d: %s", code, c.stderr)
	}
}

// A sweep of a master is submitted and left, and waited for later.
func TestDetachedAtAMaster(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	f.master()
	stdout, stderr, code := f.run("--master", "m.sock", "-d", "p", "--detach", "work")
	if code != 0 || stdout != "work-1\n" || !strings.Contains(stderr, "work-1 is running in the "+
		"background: 4 tasks\nfollow: run-tasks --master m.sock follow work-1\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code := f.run("--master", "m.sock", "-d", "p", "--detach", "--cancel-on-interrupt",
		"work"); code != 2 {
		t.Errorf("with --cancel-on-interrupt: exit code %d: %s", code, stderr)
	}
	f.running(3)
	f.write("go", "")
	if stdout, _, code := f.run("--master", "m.sock", "wait", "work-1"); code != 0 ||
		!strings.Contains(stdout, "work-1 finished: 4 tasks: 4 succeeded") {
		t.Errorf("wait: exit code %d: %s", code, stdout)
	}
}
