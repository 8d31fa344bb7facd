package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// disk mounts a small disk in memory.
func (f folder) disk(name, options string) {
	f.t.Helper()
	if err := os.Mkdir(f.path(name), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs",
		f.path(name)).CombinedOutput(); err != nil {
		f.t.Skipf("NOT TESTED: a full disk needs the right to mount: %s", out)
	}
	f.t.Cleanup(func() { _ = exec.Command("umount", "-l", f.path(name)).Run() })
}

// fill leaves no byte of a disk free; the returned function removes what fills it.
func (f folder) fill(name string) (empty func()) {
	f.t.Helper()
	ballast := f.path(name + "/ballast")
	file, err := os.Create(ballast)
	if err != nil {
		f.t.Fatal(err)
	}
	for size := 1 << 20; size > 0; size /= 2 {
		for block := make([]byte, size); err == nil; {
			_, err = file.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			f.t.Fatal(err)
		}
		err = nil
	}
	_ = file.Close()
	return func() {
		if err := os.Remove(ballast); err != nil {
			f.t.Fatal(err)
		}
	}
}

// When the disk of the store is full, what is there can be looked at, and what changes something
// says which disk that is, in words, with exit code 5: after a run that ended well, and after one
// that was killed.
func TestDiskOfStoreFull(t *testing.T) {
	t.Parallel()
	const full = "the disk of the store is full (%s/.mlframework): no space left on device\n  " +
		"free some space, then "
	for name, killed := range map[string]bool{"ended": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 1s", polite)
			f.disk(".mlframework", "size=3m")
			c := f.start(nil, "--local", "-d", "p", "--slots", "2", "--no-output", "work")
			f.running(3)
			if f.known(2); killed {
				f.killRunner()
			} else {
				f.write("go", "")
			}
			c.wait()
			empty := f.fill(".mlframework")
			for args, changes := range map[string]bool{"ls": false, "ls --json": false,
				"show": false, "show work-1/0": false, "results": false, "results --csv": false,
				"test-metrics -d p work work-1/0": false, "follow": false,
				"--local -d p work": true, "cancel -y": true, "resume": killed,
				"--local -d p --missing work": true} {
				stdout, stderr, code := f.run(strings.Fields(args)...)
				said := strings.Contains(stderr, fmt.Sprintf(full, f.dir))
				if said != changes || changes != (code == 5) || strings.Contains(stderr,
					"disk I/O") || strings.Contains(stdout+stderr, "(4874)") {
					t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
				}
			}
			empty()
			f.write("go", "")
			if stdout, stderr, code := f.run("resume"); code != 0 || killed &&
				!strings.Contains(stdout, "4 succeeded") {
				t.Errorf("with room again: exit code %d: %s%s", code, stdout, stderr)
			}
		})
	}
}

// When the disk of outputs is full the task that printed says so in its line, the summary counts
// it, and the sweep is paused with the reason and exit code 5: what has not begun runs when there
// is room.
func TestDiskOfOutputsFull(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "test $TASK_INDEX = 0 || exit 0; yes | head -c 2000000\n")
	f.disk("outputs", "size=1m")
	stdout, stderr, code := f.run("--local", "-d", "p", "--slots", "1", "work")
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	for text, in := range map[string]string{
		"work-1/0 succeeded": stdout, "output not kept in full": stdout, "1 succeeded": stdout,
		"WARNING: output of 1 task on ":                               stderr,
		"is incomplete: no space left on device":                      stderr,
		"work-1 is paused (no space left for outputs (":               stderr,
		"free some disk space); to continue: run-tasks resume work-1": stderr,
	} {
		if !strings.Contains(in, text) {
			t.Errorf("it does not say %q:\n%s%s", text, stdout, stderr)
		}
	}
	if shown, _, _ := f.run("show", "work-1/0"); !strings.Contains(shown, "output cut") {
		t.Errorf("show says %s", shown)
	}
	if err := os.Remove(f.path("outputs/work-1/0/stdout.log")); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := f.run("resume"); code != 0 || !strings.Contains(stdout,
		"4 succeeded") {
		t.Errorf("resume: exit code %d\n%s%s", code, stdout, stderr)
	}
	if lines := f.lines("attempts"); len(lines) != 4 {
		t.Errorf("attempts began: %v", lines)
	}
}

// A disk of outputs that gets full again, in the same process, pauses what was resumed meanwhile.
func TestDiskOfOutputsFullAgain(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s",
		"until test -e ../../../go-$TASK_INDEX; do sleep 0.02; done; yes | head -c 100000\n")
	f.disk("outputs", "size=4m")
	paused := func() {
		t.Helper()
		eventually(t, deadline, "the sweep is paused", func() bool {
			shown, _, _ := f.run("show", "work-1")
			return strings.Contains(shown, "paused: no space left for outputs (")
		})
	}
	work := f.start(nil, "--local", "-d", "p", "--slots", "2", "--no-output", "work")
	f.running(2)
	empty := f.fill("outputs")
	f.write("go-1", "")
	paused()
	empty()
	work.shows("there is space for outputs again")
	resumed := f.start(nil, "resume", "work-1", "--no-output")
	eventually(t, deadline, "task 2 runs", func() bool { return len(f.lines("attempts")) == 3 })
	f.fill("outputs")
	f.write("go-2", "")
	paused()
	f.write("go-0", "")
	work.ends(5)
	resumed.ends(5)
	if lines := f.lines("attempts"); len(lines) != 3 {
		t.Errorf("attempts began: %v", lines)
	}
}
