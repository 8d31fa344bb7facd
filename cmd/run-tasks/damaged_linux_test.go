package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"mlframework/internal/processtest"
)

// TestDamage: commands that name a damaged sweep fail with the remedy, other sweeps run, and
// `--missing` says of which sweeps it cannot read what succeeded.
func TestDamage(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "code: [work.sh]", "")
	if _, stderr, code := f.run("--local", "-d", "p", "work"); code != 0 {
		t.Fatal(code, stderr)
	}
	text, err := os.ReadFile(f.path(".mlframework/store.db"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(".mlframework/store.db", strings.ReplaceAll(string(text), `"definition":"work"`,
		`"definition"!"work"`))
	stdout, stderr, code := f.run("--local", "-d", "p", "--dry-run", "--missing", "work")
	want := "not all of work-1 can be read in the store: what succeeded there may run again\n"
	if code != 0 || !strings.Contains(stdout+stderr, want) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	for _, args := range []string{"show work-1", "results work-1", "resume work-1"} {
		_, stderr, code := f.run(strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, "work-1 is damaged in store.db") ||
			!strings.Contains(stderr, "restore the file") {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
	if _, stderr, code := f.run("--local", "-d", "p", "work"); code != 0 {
		t.Errorf("another sweep: exit code %d: %s", code, stderr)
	}
	if stdout, stderr, code := f.run("rm", "work-1", "--yes"); code != 0 ||
		stdout != "removed work-1\n" {
		t.Errorf("rm: exit code %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Lstat(f.path("outputs/work-1")); err == nil {
		t.Error("the outputs of the damaged sweep are still there")
	}
}

// A runner ends although its folder has a damaged sweep of a run that was killed.
func TestRunnerBesideDamage(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "until test -e ../../../go; do sleep 0.02; done\n")
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(2)
	f.known(2)
	guard, executor := f.runner()
	processtest.Kill(t, c.pid(), guard, executor) // none records the end of another
	damage := exec.Command("python3", "-c", `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE tasks SET charged = '{'")
db.commit()
`, f.path(".mlframework/store.db"))
	if out, err := damage.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.write("go", "")
	if _, stderr, code := f.run("--local", "-d", "p", "work"); code != 0 ||
		!strings.Contains(stderr, "work-1 is damaged") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	f.over()
}
