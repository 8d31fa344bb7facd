package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"mlframework/internal/processtest"
)

// freeze stops a master as a machine that swaps does: its socket takes connections, and nobody
// answers. The returned function lets it go on.
func (s *served) freeze(t *testing.T) (thaw func()) {
	t.Helper()
	processtest.Stop(t, s.cmd.Process.Pid)
	return func() {
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is asked of a master that is frozen: a sentence says what is waited for, and the command
// ends with code 4.
func TestAFrozenMaster(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "echo printed\n")
	m := f.master()
	for range 2 {
		if _, stderr, code := f.run("--master", "m.sock", "-d", "p", "--quiet", "work"); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	m.freeze(t)
	calls := map[string]*call{} // all at once: each takes 20 seconds
	for _, args := range []string{
		"ls", "ls --json", "show", "show work-1/0", "results", "results --csv work-1",
		"logs work-1/0",
		"pause", "cancel work-1/0", "resume", "retry work-1", "extend", "priority work-1 3",
		"workers", "workers drain w1", "broker", "-d p work", "-d p --dry-run work",
		"-d p --missing work",
	} {
		calls[args] = f.start(nil, append([]string{"--master", "m.sock"},
			strings.Fields(args)...)...)
	}
	for args, c := range calls {
		code := c.waitFor(2 * deadline)
		if code != 4 || c.stdout.String() != "" {
			t.Errorf("%s: exit code %d, it prints %s", args, code, c.stdout)
		}
		for _, want := range []string{
			"note: waiting for the master at m.sock: no response for 5s\n",
			"run-tasks: the master at m.sock cannot be reached: no response for 20s",
		} {
			if said := c.stderr.String(); strings.Count(said, want) != 1 {
				t.Errorf("%s: it says %q, without %q", args, said, want)
			}
		}
	}
}

// A write that a frozen master may still do when it goes on is told as such.
func TestAMasterFreezesBeforeAWrite(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
	f.running(3)
	thaw := f.frozenOn(m, "/pause")
	pause := f.start(nil, "--master", "front.sock", "pause", "work-1")
	if code := pause.waitFor(2 * deadline); code != 4 || !strings.Contains(pause.stderr.String(),
		"the request may or may not have taken effect\n  check before you retry: run-tasks "+
			"--master front.sock show work-1\n") {
		t.Errorf("exit code %d: %s", code, pause.stderr)
	}
	thaw()
	f.write("go", "")
	_ = c.wait() // paused or not
}

// Who follows says that the master is frozen, goes on waiting, and misses nothing when it goes on.
func TestFollowersWaitForAFrozenMaster(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
	c.shows("work-1/0 succeeded")
	follower := f.start(nil, "--master", "m.sock", "follow", "--json", "work-1")
	follower.shows("following work-1: ")
	thaw := m.freeze(t)
	for _, c := range []*call{c, follower} {
		c.shows("note: waiting for the master at m.sock: no response for 5s")
		c.shows("note: lost the connection to the master (the master at m.sock cannot be " +
			"reached: no response for 20s)")
	}
	f.write("go", "")
	thaw()
	for _, c := range []*call{c, follower} {
		c.shows("note: the master is back")
		if code := c.wait(); code != 0 {
			t.Errorf("exit code %d: %s%s", code, c.stdout, c.stderr)
		}
	}
	for i := 1; i < 4; i++ {
		if n := strings.Count(c.stdout.String(), fmt.Sprintf("work-1/%d succeeded", i)); n != 1 {
			t.Errorf("the end of task %d was told %d times:\n%s", i, n, c.stdout)
		}
	}
}

// The output of a task that a frozen master is asked for is waited for, too, also by who begins to
// follow it only now: nothing of it is missing, and nothing comes twice.
func TestOutputOfAFrozenMasterIsFollowed(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "echo begun\necho here >&2\n"+waiting+"echo last\n")
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
	f.running(3)
	early := f.start(nil, "--master", "m.sock", "logs", "-f", "work-1/1")
	early.shows("waiting\n")
	thaw := m.freeze(t)
	late := f.start(nil, "--master", "m.sock", "logs", "-f", "work-1/1")
	follower := f.start(nil, "--master", "m.sock", "follow", "--no-output", "work-1")
	for _, c := range []*call{early, late, follower} {
		c.shows("note: waiting for the master at m.sock: no response for 5s")
		c.shows("note: lost the connection to the master (the master at m.sock cannot be " +
			"reached: no response for 20s)")
	}
	f.write("go", "")
	thaw()
	for _, c := range []*call{early, late, follower, c} {
		if code := c.wait(); code != 0 || strings.Count(c.stderr.String(), "note: lost the") != 1 ||
			strings.Count(c.stderr.String(), "note: the master is back\n") != 1 {
			t.Errorf("exit code %d: %s%s", code, c.stdout, c.stderr)
		}
	}
	printed, _, _ := f.run("--master", "m.sock", "logs", "work-1/1")
	if !strings.HasPrefix(printed, "begun\nwaiting\n") || !strings.HasSuffix(printed,
		"waiting\nlast\n") {
		t.Fatalf("the task printed %q", printed)
	}
	for _, c := range []*call{early, late} {
		if c.stdout.String() != printed || strings.Count(c.stderr.String(), "here\n") != 1 {
			t.Errorf("it shows %q and %q of %q", c.stdout, c.stderr, printed)
		}
	}
}

// A task that runs again because its master and worker were killed together: who follows its output
// gets all of the first attempt's, and then all of the next one's.
func TestOutputIsFollowedIntoTheNextAttempt(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "echo attempt $ATTEMPT begins and prints more than the next\n"+
		waiting+"echo last\n")
	m := f.master()
	f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
	f.running(3)
	logs := f.start(nil, "--master", "m.sock", "logs", "-f", "work-1/1")
	logs.shows("begins and prints")
	m.kill()
	logs.shows("note: lost the connection to the master (")
	f.write("go", "")
	f.master()
	if code := logs.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, logs.stderr)
	}
	var all string
	for _, n := range []string{"1", "2"} {
		printed, _, _ := f.run("--master", "m.sock", "logs", "--attempt", n, "work-1/1")
		all += printed
	}
	if logs.stdout.String() != all || !strings.Contains(all, "attempt 2 begins") {
		t.Errorf("it shows %q of %q", logs.stdout, all)
	}
}

// The runner of a folder can be frozen, too: by a signal, for one.
func TestAFrozenRunner(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", polite)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	follower := f.start(nil, "follow")
	follower.shows("following work-1: ")
	_, frozen := f.runner()
	processtest.Stop(t, frozen)
	const waits = "note: waiting for the runner of this folder: no response for 5s\n"
	calls := []*call{f.start(nil, "cancel", "work-1"), f.start(nil, "pause")}
	for _, c := range calls {
		if code := c.waitFor(2 * deadline); code != 4 || !strings.Contains(c.stderr.String(),
			waits) ||
			!strings.Contains(c.stderr.String(), "cannot be reached: no response for 20s") {
			t.Errorf("exit code %d: %s", code, c.stderr)
		}
	}
	follower.shows(waits)
	follower.shows("note: the process that runs the tasks is away (")
	if err := syscall.Kill(frozen, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	follower.shows("note: the process that runs the tasks is back")
	f.write("go", "")
	_ = follower.wait() // what was asked for meanwhile is done now
	_ = c.wait()
}
