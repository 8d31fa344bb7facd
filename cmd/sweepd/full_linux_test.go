package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// disk mounts a small disk in memory over a folder of the cluster.
func (c *cluster) disk(name, options string) {
	c.t.Helper()
	folder := c.path(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		c.t.Skipf("NOT TESTED: a full disk needs the right to mount: %v", err)
	}
	c.t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
}

// A worker whose disk of outputs is full: what a task printed beyond it is missing, and its record,
// its file, the lines and the summary of who follows say so. The worker gets nothing more, and goes
// on by itself when there is room.
func TestFullDiskOfOutputs(t *testing.T) {
	t.Parallel()
	runTasks := buildRunTasks(t)
	s := open(t)
	c := newCluster(t, s)
	c.disk("w1", "size=4m")
	c.worker("w1", s)
	const printed = 8_000_000
	// Two slots: the first task fills the disk once the follower is there, the second holds the
	// other slot until it is full, and the rest have to wait.
	id := c.sweep("full",
		`case $TASK_INDEX in 0) while [ ! -e "$GO.fill" ]; do sleep 0.05; done; yes | head -c 8000000 ;; 1) `+held+` ;; esac`, 5)
	ask := func(args ...string) (code int, stdout, stderr string) {
		return callProgram(t, runTasks, append([]string{"--master", c.path("socket")}, args...)...)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	follow := exec.CommandContext(ctx, runTasks, "--master", c.path("socket"), "follow",
		"--no-output", id)
	var followed bytes.Buffer
	follow.Stdout = &followed
	stderr, err := follow.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	notes := bufio.NewReader(stderr)
	if first, err := notes.ReadString('\n'); err != nil || !strings.HasPrefix(first, "following "+
		id) {
		t.Fatalf("run-tasks follow: %q, %v", first, err)
	}
	c.shows(id, "running", 2) // else the second finds no room to begin
	write(t, c.path("go.fill"), "")
	eventually(t, patience, "the worker says that it has no room", func() bool {
		w := c.shown("w1")
		return w.State == core.WorkerRefused && w.Reason != nil && strings.Contains(*w.Reason,
			"no space left for outputs ("+c.path("w1")+" on host-w1): free some disk space")
	})
	c.letGo()
	c.stands(id, core.Counts{task.Succeeded: 2, task.Pending: 3})
	if _, stdout, _ := ask("workers"); !strings.Contains(stdout, "no space left for outputs") {
		t.Errorf("run-tasks workers:\n%s", stdout)
	}
	kept, err := os.ReadFile(c.path("w1", id, "0", "stdout.log"))
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\n[cut here: this output is not kept in full: no space left on device]\n"
	_, stdout, _ := ask("show", "--json", id+"/0")
	var shown api.Task
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil || len(shown.Attempts) != 1 {
		t.Fatalf("%v: %s", err, stdout)
	}
	out := shown.Attempts[0].Stdout
	if out == nil || out.Bytes != int64(len(kept)-len(mark)) || out.Printed < printed ||
		!out.Truncated || !strings.HasSuffix(string(kept), mark) {
		t.Errorf("it is said to have kept %+v; the file has %d bytes, at its end %q", out,
			len(kept), kept[max(0, len(kept)-100):])
	}
	if _, stdout, _ := ask("logs", id+"/0"); stdout != string(kept) {
		t.Errorf("run-tasks logs has %d bytes of %d", len(stdout), len(kept))
	}
	if err := os.Truncate(c.path("w1", id, "0", "stdout.log"), 0); err != nil {
		t.Fatal(err)
	}
	noted, err := io.ReadAll(notes)
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Wait(); err != nil || !strings.Contains(followed.String(),
		id+"/0 succeeded") ||
		!strings.Contains(followed.String(), "output not kept in full: ") ||
		!strings.Contains(followed.String(), "5 tasks: 5 succeeded") ||
		!strings.Contains(string(noted), "WARNING: output of 1 task on host-w1 is incomplete: no "+
			"space left on device") {
		t.Errorf("who follows is told; it ended with %v:\n%s%s", err, &followed, noted)
	}
	c.succeeded(id)
	c.seen.Output = nil // of the first task it is not whole
	c.verify()
}

// A program that fails while the disk of its outputs is full is not to blame: its attempt is not
// charged, and the next one starts when there is room, or on another worker.
func TestProgramFailsOnFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.disk("w1", "size=4m")
	c.worker("w1", s)
	id := c.sweep("full", `test -e "$GO" || head -c 8000000 /dev/zero >model.pt || exit 3`, 1)
	eventually(t, patience, "the worker says that it has no room", func() bool {
		return c.shown("w1").State == core.WorkerRefused
	})
	c.letGo()
	c.stands(id, core.Counts{task.Pending: 1})
	tried, err := c.client.Task(t.Context(), id, 0)
	if err != nil || len(tried.Attempts) != 1 || tried.Attempts[0].Reason == nil ||
		!strings.HasPrefix(*tried.Attempts[0].Reason, "no space left for outputs ("+c.path("w1")+
			" on host-w1): free some disk space; exit code 3: ") {
		t.Errorf("the attempt ended with %+v: %v", tried.Attempts, err)
	}
	if err := os.Remove(c.path("w1", id, "0", "model.pt")); err != nil {
		t.Fatal(err)
	}
	c.ended(patience, id)
	c.succeeded(id)
	c.read(func(ctx context.Context, r *store.Reader) error {
		s, err := r.Sweep(ctx, id)
		if err != nil {
			return err
		}
		for row, err := range r.Tasks(ctx, s, store.TaskQuery{}) {
			if err != nil || row.Charged != (task.Retry{}) || row.Attempts != 2 {
				t.Errorf("the task has %d attempts and is charged %+v: %v", row.Attempts,
					row.Charged, err)
			}
		}
		return nil
	})
}

// Where room comes back while a task prints, its file has what was kept, and the mark at the place
// behind which something is missing. It prints more than pipes and buffers hold, so that most of it
// is refused before there is room.
func TestRoomComesBackWhileATaskPrints(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.disk("w1", "size=4m")
	c.worker("w1", s)
	ballast := c.path("w1", "ballast")
	kept := "until [ -s " + c.path("w1") + "/*/0/stdout.log ]; do sleep 0.01; done; "
	fill := kept + "cat /dev/zero > " + ballast + " 2>/dev/null; yes | head -c 2000000; rm " +
		ballast + "; sleep 0.1; echo more"
	id := c.sweep("full", fill, 1)
	c.ended(patience, id)
	file, err := os.ReadFile(filepath.Join(c.path("w1"), id, "0", "stdout.log"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := c.client.Task(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\n[cut here: this output is not kept in full: no space left on device]\n"
	out := task.Attempts[0].Stdout
	if strings.Count(string(file), mark) != 1 || !strings.HasPrefix(string(file), "attempt 1\n") ||
		out == nil || !out.Truncated || out.Printed < 2000000 {
		t.Errorf("%+v, and the file has %d bytes, at its end %q", out, len(file),
			file[max(0, len(file)-100):])
	}
}

// A master whose store has no room refuses what it cannot keep, ends, and names the disk, as does
// one that is started there; what it had confirmed is there when it has room again.
func TestFullDiskOfTheStore(t *testing.T) {
	t.Parallel()
	runTasks := buildRunTasks(t)
	s := open(t)
	c := newCluster(t, s)
	c.master.signal(unix.SIGTERM)
	c.master.exitCode()
	c.disk("disk", "size=4m")
	c.master = newDaemon(t, c.dir, "small", append([]string{"master", "--store",
		c.path("disk", "store"), "--socket", c.path("socket")}, s.master()...)...)
	c.master.start()
	c.worker("w1", s)
	id := c.sweep("held", held, 2)
	c.shows(id, "running", 2)
	ballast := c.path("disk", "ballast")
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
	_ = file.Close()
	const full = "the disk of the store is full (%s): no space left on device"
	said := strings.ReplaceAll(full, "%s", c.path("disk", "store"))
	refused, stderr := 0, ""
	for range 200 { // what is allocated already takes some
		if refused, _, stderr = callProgram(t, runTasks, "--master", c.path("socket"), "priority",
			id, "5"); refused != cli.OK {
			break
		}
		if refused, _, stderr = callProgram(t, runTasks, "--master", c.path("socket"), "priority",
			id, "6"); refused != cli.OK {
			break
		}
	}
	if refused != cli.Unreachable || !strings.Contains(stderr, said) || !strings.Contains(stderr,
		"\n  free some space on the master's machine, and start the master again\n") ||
		strings.Contains(stderr, "I/O error") {
		t.Errorf("run-tasks priority: exit code %d: %s", refused, stderr)
	}
	if code := c.master.exitCode(); code != cli.Machine || !strings.Contains(c.master.said(),
		said) {
		t.Errorf("the master ended with %d", code)
	}
	if code, _, stderr := call(t, append([]string{"master", "--store", c.path("disk", "other"),
		"--socket", c.path("other")}, s.master()...)...); code != cli.Machine ||
		!strings.Contains(stderr, c.path("disk", "other")) || !strings.Contains(stderr,
		"no space left on device\n  free some space") {
		t.Errorf("a master that is started there ended with %d: %s", code, stderr)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.master.start()
	c.letGo()
	eventually(t, patience, "the sweep ends", func() bool {
		v, err := c.client.Sweep(t.Context(), id, false)
		return err == nil && v.Counts["succeeded"] == 2
	})
}

// shows waits, by the API, until so many tasks are in a state.
func (c *cluster) shows(id, state string, n int64) {
	c.t.Helper()
	eventually(c.t, patience, id+" has tasks "+state, func() bool {
		v, err := c.client.Sweep(c.t.Context(), id, false)
		return err == nil && v.Counts[state] == n
	})
}
