package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/task"
)

// A second worker with the name or a folder of one that lives is refused before it touches
// anything: what the first runs succeeds, at its first attempt.
func TestSecondWorkerRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	state := c.path("state")
	w1 := newDaemon(t, c.dir, "w1", append([]string{"worker", "--name", "w1", "--host", "gpu1",
		"--slots", "2", "--outputs", c.path("w1"),
		"--state", state, "--revisions", c.path("revisions")}, s.worker("w1")...)...)
	w1.start()
	c.ready("w1")
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	for name, second := range map[string]struct{ name, outputs, state, says string }{
		"the same call": {"w1", c.path("w1"), state, "already runs on this machine"},
		"the same name": {"w1", c.path("other"), c.path("other", "state"),
			"already runs on this machine"},
		"the same outputs": {"w2", c.path("w1"), c.path("other", "state"), c.path("w1") +
			" is in use by worker w1"},
		"outputs inside": {"w2", c.path("w1", "deep", "other"), c.path("other", "state"),
			c.path("w1") + " is in use by worker w1"},
		"outputs around": {"w2", c.dir, c.path("other", "state"), "around them: " + c.dir},
		"the same state": {"w2", c.path("other"), state, state + " is in use by worker w1"},
	} {
		code, _, stderr := call(t, append([]string{"worker", "--name", second.name, "--outputs",
			second.outputs, "--state", second.state,
			"--revisions", c.path("revisions")}, s.worker(second.name)...)...)
		if pid := fmt.Sprintf("(pid %d", w1.guard()); code != 5 || !strings.Contains(stderr,
			second.says) || !strings.Contains(stderr, pid) {
			t.Errorf("%s: exit code %d, want 5; it says %q, want %q and %q", name, code, stderr,
				second.says, pid)
		}
	}
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
	w1.signal(syscall.SIGTERM)
	if code := w1.exitCode(); code != 0 {
		t.Errorf("the first ended with %d", code)
	}
	w1.start() // what it held is free again
	c.ready("w1")
}

// A second worker of the name of one that lives is refused on another machine, too: its files show
// nothing, but the broker does.
func TestSecondWorkerElsewhereRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	elsewhere := s.through(broker.Through(t, s.url)) // another address: another lock of the name
	code, _, stderr := call(t, append([]string{"worker", "--name", "w1", "--outputs",
		c.path("other"), "--revisions", c.path("revisions")},
		elsewhere.worker("w1")...)...)
	if want := "another process takes the tasks of worker w1"; code != 5 ||
		!strings.Contains(stderr, want) {
		t.Errorf("exit code %d, want 5; it says %q, want %q", code, stderr, want)
	}
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
}

// A worker that was cut off, and whose name another process took meanwhile, ends when it is back:
// what it ran goes to the other, and nothing is charged for what it took.
func TestWorkerWhoseNameWasTakenEnds(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	p := broker.Through(t, s.url)
	first := c.worker("w1", s.through(p))
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	p.Stall()
	second := newDaemon(t, c.dir, "second", append([]string{"worker", "--name", "w1", "--host",
		"second", "--slots", "2",
		"--outputs", c.path("second"), "--revisions", c.path("revisions")}, s.worker("w1")...)...)
	second.start()
	eventually(t, 2*patience, "the second is the one that is known", func() bool {
		return c.shown("w1").Host == "second"
	})
	p.Heal()
	said := ""
	eventually(t, patience, "health tells of two", func() bool {
		if h, err := c.client.Health(t.Context()); err == nil && len(h.Warnings) > 0 {
			said = h.Warnings[0].Text
		}
		return said != ""
	})
	if want := "two processes have the name w1"; !strings.HasPrefix(said, want) ||
		!strings.Contains(said, "host-w1") {
		t.Errorf("health says %q, want %q", said, want)
	}
	if code := first.exitCode(); code != 5 || !strings.Contains(first.said(),
		"another process has the name of this worker") {
		t.Errorf("the first ended with %d, want 5", code)
	}
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
	if lost := c.stored(id).Head.Counts()[task.Lost]; lost > 0 {
		t.Errorf("%d tasks are lost", lost)
	}
}

// The broker refuses a second master with another store, and the tasks of the first continue. A
// master that was cut off, and whose lock another master took meanwhile, exits when it reconnects.
func TestSecondMasterRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := broker.Through(t, s.url)
	c := newCluster(t, s.through(p))
	c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	second := newDaemon(t, c.dir, "second", append([]string{"master", "--store", c.path("other"),
		"--socket", c.path("other.sock")}, s.master()...)...)
	refused := func(d *daemon, store string, pid int) {
		t.Helper()
		eventually(t, 2*patience, d.name+" ends", func() bool { return !d.running() })
		want := fmt.Sprintf("with the store %s (pid %d, since ", store, pid)
		if code := d.exitCode(); code != 5 || !strings.Contains(d.said(), want) ||
			!strings.Contains(d.said(), "retrying for up to 20s") {
			t.Errorf("%s ended with %d, want 5; want it to say %q", d.name, code, want)
		}
	}
	second.start()
	refused(second, c.path("store"), c.master.guard())
	if again := c.shown("w1"); again.State != core.WorkerReady {
		t.Errorf("the worker of the first is %s", again.State)
	}
	c.stands(id, core.Counts{task.Running: 2})
	c.uncharged(id)
	p.Stall()
	second.start() // the broker needs some time to notice that the first has ended
	eventually(t, 2*patience, "the second has the broker", said(second, "the broker is reached"))
	p.Heal()
	refused(c.master, c.path("other"), second.guard())
}
