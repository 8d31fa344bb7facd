package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// When the disk of outputs is full the task that printed says so in its line, the summary counts it, and the sweep is paused
// with the reason and exit code 5: what has not begun runs when there is room.
func TestDiskOfOutputsFull(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "test $TASK_INDEX = 0 || exit 0; yes | head -c 2000000\n")
	if err := os.Mkdir(f.path("outputs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", f.path("outputs")).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: a full disk needs the right to mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", f.path("outputs")).Run() })
	stdout, stderr, code := f.run("--local", "-d", "p", "--slots", "1", "work")
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	for text, in := range map[string]string{
		"work-1/0 succeeded": stdout, "output not kept in full": stdout, "1 succeeded": stdout,
		"WARNING: output of 1 task on ":                          stderr,
		"is incomplete: no space left on device":                 stderr,
		"work-1 is paused (no space left for outputs (":          stderr,
		"free some disk space): run-tasks resume work-1 goes on": stderr,
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
	if stdout, stderr, code := f.run("resume"); code != 0 || !strings.Contains(stdout, "4 succeeded") {
		t.Errorf("resume: exit code %d\n%s%s", code, stdout, stderr)
	}
	if lines := f.lines("attempts"); len(lines) != 4 {
		t.Errorf("attempts began: %v", lines)
	}
}
