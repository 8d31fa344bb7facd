package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// loses kills the master, cuts the log of its store, and starts it again.
func (c *cluster) loses() {
	c.t.Helper()
	c.master.kill()
	if err := os.Truncate(c.path("store", "store.db-wal"), 0); err != nil {
		c.t.Fatal(err)
	}
	c.master.start()
}

// warned returns what the master warns of.
func (c *cluster) warned() (texts []string) {
	h, err := c.client.Health(c.t.Context())
	if err != nil {
		return []string{err.Error()}
	}
	for _, w := range h.Warnings {
		texts = append(texts, w.Text)
	}
	return texts
}

// A store whose log was cut has lost a sweep that was confirmed: what its worker still says of it
// is told to people, by every command that they ask and by the monitor, until they have submitted
// it again.
func TestWhatTheStoreLostIsSaid(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.stands(id, core.Counts{task.Running: 2})
	c.loses()
	want := "worker w1 reports 2 tasks of " + id + ", which this store does not know"
	eventually(t, 2*patience, "health says what is missing", func() bool {
		said := c.warned()
		return len(said) == 1 && strings.HasPrefix(said[0], want)
	})
	runTasks := buildRunTasks(t)
	ask := func(args ...string) (code int, stdout, stderr string) {
		return callProgram(t, runTasks, append([]string{"--master", c.path("socket")}, args...)...)
	}
	other := func() { c.ended(patience, c.sweep("other", "true", 1)) }
	// of an empty store, and of one that has sweeps again
	for _, also := range []func(){func() {}, other} {
		also()
		for args, code := range map[string]int{"ls": cli.OK, "ls --json": cli.OK,
			"show " + id: cli.Usage, "show --json " + id: cli.Usage, "results " + id: cli.Usage,
			"follow " + id: cli.Usage, "logs " + id + "/0": cli.Usage, "resume " + id: cli.Usage} {
			got, stdout, stderr := ask(strings.Fields(args)...)
			if got != code || strings.Count(stderr, "WARNING: "+want) != 1 ||
				strings.Contains(stdout, "WARNING") {
				t.Errorf("run-tasks %s: exit code %d: %s%s", args, got, stdout, stderr)
			}
		}
	}
	browser := c.monitor()
	page := browser.get("/sweeps")
	if !strings.Contains(page, want) || !strings.Contains(page, `role="alert"`) {
		t.Errorf("the page of sweeps: %s", page)
	}
	if page := browser.get("/sweeps/" + id); !strings.Contains(page, want) {
		t.Errorf("the page of a sweep that was lost: %s", page)
	}
	if again := c.sweep("held", held, 2); again != id {
		t.Fatalf("it is %s now", again)
	}
	eventually(t, patience, "nothing is missing any more", func() bool {
		return len(c.warned()) == 0
	})
	if _, stdout, stderr := ask("ls"); stderr != "" || !strings.Contains(stdout, id) {
		t.Errorf("run-tasks ls: %s%s", stdout, stderr)
	}
	// pages share an answer of the master for a moment
	eventually(t, patience, "the page of sweeps warns no more", func() bool {
		return !strings.Contains(browser.get("/sweeps"), "reports 2 tasks")
	})
	c.letGo()
	c.ended(patience, id)
	c.succeeded(id)
}

// buildRunTasks builds the commands of people beside the program.
func buildRunTasks(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run-tasks")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "../run-tasks")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build run-tasks: %v\n%s", err, out)
	}
	return file
}
