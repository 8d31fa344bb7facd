package main_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// stubborn ignores SIGTERM, and leaves a process in a session of its own and one that holds its
// output.
const stubborn = `trap '' TERM
test "$TASK_INDEX" = 0 -o -e ../../../go && exit
setsid sleep 100 &
sleep 100
`

// When both processes of the runner are killed at once, no process is left to end the attempts:
// the next command that runs anything does.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.known(2, 1)
	orphans := f.processes()
	f.killRunner()
	c.ends(5)
	if said := c.stderr.String(); !strings.Contains(said, "work-1: 1 of 4 tasks had ended, and their "+
		"results are kept; `run-tasks resume work-1` runs the rest\n") {
		t.Errorf("it says %s", said)
	}
	if len(f.processes()) == 0 {
		t.Log("all of them died with the pair")
	}
	f.complete("--slots", "2")
	f.dead(0, orphans...)
}

// After that nothing is shown as running, whatever is asked first, and the way on is named.
func TestNothingRunsAfterKill(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"ls --json", "show", "show work-1/1", "show --json",
		"show work-1/1 --json", "results", "results --json", "results --csv"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 30s", stubborn)
			c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
			f.running(3)
			f.known(2, 1)
			f.killRunner()
			c.wait()
			for _, command := range []string{first, "show"} {
				shown, stderr, code := f.run(strings.Fields(command)...)
				if code != 0 {
					t.Errorf("%s: exit code %d: %s", command, code, stderr)
				}
				const reason = "its run was killed while 2 tasks were running"
				rest := strings.NewReplacer(`"running":0`, "", reason, "").Replace(shown)
				if strings.Contains(rest, "running") {
					t.Errorf("%s: %s", command, shown)
				}
				if command == "show" && !(strings.Contains(shown, "paused: "+reason) &&
					strings.Contains(shown, "to continue: run-tasks resume work-1")) {
					t.Errorf("%s: %s", command, shown)
				}
			}
			f.complete("--slots", "2")
		})
	}
}

// A follower of a sweep whose runner is killed ends, and says how it stands.
func TestFollowerOfTheKilled(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.known(2, 1)
	follower := f.start(nil, "follow")
	follower.shows("following work-1: 1 of 4 done, 2 running")
	logs := f.start(nil, "logs", "-f", "work-1/1")
	f.killRunner()
	if code := follower.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if text := follower.stderr.String(); !strings.Contains(text, "work-1 is paused (its run was "+
		"killed while 2 tasks were running); to continue: run-tasks resume work-1") {
		t.Errorf("it says:\n%s%s", follower.stdout, text)
	}
	if code := logs.wait(); code != 0 && code != 2 { // 2: it had printed nothing
		t.Errorf("logs -f: exit code %d: %s", code, logs.stderr)
	}
}

// A second run of a folder whose store was removed is refused until the first one has ended: it
// would end what the first runs, and write into the same outputs.
func TestOutputsInUse(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1h", "trap '' TERM\nuntil test -e ../../../go; do sleep 0.02; done\n")
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(2)
	if err := os.RemoveAll(f.path(".mlframework")); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := f.run("--local", "-d", "p", "work")
	if code != 5 || !strings.Contains(stderr, "outputs") || !strings.Contains(stderr,
		"in use by run-tasks runner (pid ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	f.running(2)
	f.write("go", "")
	if code := c.wait(); code != 5 || !strings.Contains(c.stderr.String(),
		"the store of this folder was removed while work-1 ran") {
		t.Errorf("the first: exit code %d: %s", code, c.stderr)
	}
}

// A process that outlives its program and ignores SIGTERM costs next to nothing until its grace is
// over, and neither the sweep nor the command waits for it; the command says so.
func TestLeftoversCostNothing(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 6s", "(trap '' TERM; exec setsid sleep 400) &\n")
	c := f.start(nil, "--local", "-d", "p", "--slots", "4", "work")
	guard, executor := f.runner()
	code := c.wait()
	if said := c.stderr.String(); code != 0 || !strings.Contains(said,
		"processes that tasks left behind are being stopped") {
		t.Errorf("exit code %d; it says %s", code, said)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", executor))
	if err != nil {
		t.Fatal(err)
	}
	// With a look at /proc every 20 ms for each of the four it was 50 % of a core.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	if used := user + system; used > 50 { // hundredths of a second, in three seconds
		t.Errorf("it took %d hundredths of a second of CPU", used)
	}
	f.dead(deadline, guard)
}
