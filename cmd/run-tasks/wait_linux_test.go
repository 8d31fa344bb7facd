package main_test

import (
	"strings"
	"syscall"
	"testing"
)

// On a terminal, wait says what it waits for. A sweep whose runner is killed has ended, as paused.
func TestWaitForAKilledRunner(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.known(2)
	term := openTerminal(t, 80)
	w := f.start(term.tty, "wait")
	term.shows(t, "waiting for work-1: 1 of 4 done, 2 running")
	f.killRunner()
	w.ends(1)
	text := term.text()
	for _, want := range []string{"work-1 paused: 4 tasks: 3 pending, 1 succeeded",
		"work-1 is paused (its run was killed while 2 tasks were running); to continue: " +
			"run-tasks resume work-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// Waiting goes on when a master goes away and comes back. Ctrl-C leaves the sweep running.
func TestWaitForAMaster(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", waiting)
	m := f.master()
	c := f.start(nil, "--master", "m.sock", "-d", "p", "work")
	c.shows("| waiting")
	_, left := f.startWait()
	f.signal(left, syscall.SIGINT)
	left.ends(130)
	term, w := f.startWait()
	m.kill()
	term.shows(t, "note: lost the connection to the master (")
	f.master()
	term.shows(t, "note: the master is back")
	f.write("go", "")
	w.ends(0)
	c.ends(0)
	if text := term.text(); !strings.Contains(text, "work-1 finished: 4 tasks: 4 succeeded") {
		t.Errorf("it says:\n%s", text)
	}
}

// startWait starts a wait for the newest sweep of a master on a terminal of its own.
func (f folder) startWait() (*terminal, *call) {
	f.t.Helper()
	term := openTerminal(f.t, 80)
	c := f.start(term.tty, "--master", "m.sock", "wait")
	term.shows(f.t, "waiting for work-1: ")
	return term, c
}

// shows waits until a terminal shows something.
func (term *terminal) shows(t *testing.T, what string) {
	t.Helper()
	eventually(t, deadline, "the terminal shows "+what, func() bool {
		return strings.Contains(term.seen.String(), what)
	})
}
