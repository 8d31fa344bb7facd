package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/processtest"
	"mlframework/sweep/store"
)

// newPair makes a folder with two definitions, work and other, whose tasks wait for the files
// go-work and go-other, but for the first of each.
func newPair(t *testing.T) folder {
	f := newFolder(t, "grace: 30s", `trap 'echo $SWEEP_ID >> ../../../stopped; exit 1' TERM
test "$TASK_INDEX" = 0 && exit
until test -e ../../../go-${SWEEP_ID%-*}; do sleep 0.02; done
`)
	f.write("p/tasks.yml", `tasks:
  work: {command: [sh, work.sh], parameters: parameters.yml, grace: 30s}
  other: {command: [sh, work.sh], parameters: two.yml, grace: 30s}
`)
	f.write("p/two.yml", "x: [1, 2]\n")
	return f
}

// pair starts work, with both of its slots busy, and other, which runs behind it.
func (f folder) pair(terminal *os.File) (work, other *call) {
	f.t.Helper()
	work = f.start(terminal, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	other = f.start(nil, "--local", "-d", "p", "--slots", "2", "other")
	other.shows("other-1 runs behind work-1, on the same 2 slots")
	return work, other
}

// ends checks how a call ends.
func (c *call) ends(code int, stdout ...string) {
	c.t.Helper()
	if got := c.wait(); got != code {
		c.t.Errorf("exit code %d, want %d:\n%s%s", got, code, c.stdout, c.stderr)
	}
	for _, want := range stdout {
		if !strings.Contains(c.stdout.String(), want) {
			c.t.Errorf("it does not say %q:\n%s%s", want, c.stdout, c.stderr)
		}
	}
}

// resumed resumes a sweep of newPair, once its tasks may end.
func (f folder) resumed(definition string, tasks int) {
	f.t.Helper()
	f.write("go-"+definition, "")
	want := fmt.Sprintf("%s-1: %d tasks: %[2]d succeeded", definition, tasks)
	if stdout, stderr, code := f.run("resume", definition+"-1"); code != 0 ||
		!strings.Contains(stdout, want) {
		f.t.Errorf("resume: exit code %d: %s%s", code, stdout, stderr)
	}
}

// over waits until the folder has no runner any more.
func (f folder) over() {
	f.t.Helper()
	eventually(f.t, deadline, "the runner has ended", func() bool { return len(f.runners()) == 0 })
	if _, err := os.Stat(f.path(".mlframework/run.sock")); err == nil {
		f.t.Error("its socket is still there")
	}
}

// Each of two terminals shows its own sweep to its end; the runner ends with the last.
func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work, other := f.pair(nil)
	f.write("go-work", "")
	work.ends(0, "work-1: 4 tasks: 4 succeeded")
	f.write("go-other", "")
	other.ends(0, "other-1/1 succeeded", "other-1: 2 tasks: 2 succeeded")
	if strings.Contains(work.stdout.String(), "other-1") {
		t.Errorf("it shows another's sweep:\n%s", work.stdout)
	}
	if all := f.lines("attempts"); len(all) != 6 {
		t.Errorf("%d attempts", len(all))
	}
	f.over()
}

// However a terminal ends, what it runs is stopped and can be resumed, and the sweep of another
// terminal goes on.
func TestOneOfTwoTerminalsEnds(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		end  func(f folder, c *call)
		code int
	}{
		"Ctrl-C":   {func(f folder, c *call) { f.signal(c, syscall.SIGINT) }, 130},
		"hangup":   {func(f folder, c *call) { f.signal(c, syscall.SIGHUP) }, 130},
		"killed":   {func(f folder, c *call) { processtest.Kill(f.t, c.pid()) }, 137},
		"terminal": {func(folder, *call) {}, 130},
		"Ctrl-C twice": {func(f folder, c *call) {
			f.signal(c, syscall.SIGINT)
			c.shows("press Ctrl-C again")
			f.signal(c, syscall.SIGINT)
		}, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPair(t)
			var tty *os.File
			var term *terminal
			if name == "terminal" {
				term = openTerminal(t, 80)
				tty = term.tty
			}
			work, other := f.pair(tty)
			if k.end(f, work); tty != nil {
				_ = term.tty.Close()
				_ = term.ptmx.Close()
			}
			work.ends(k.code)
			f.write("go-other", "")
			other.ends(0, "other-1: 2 tasks: 2 succeeded")
			if shown, _, _ := f.run("show", "work-1"); !strings.Contains(shown,
				"paused: interrupted") {
				t.Errorf("work-1: %s", shown)
			}
			for _, of := range f.lines("stopped") {
				if of != "work-1" {
					t.Errorf("an attempt of %s was stopped", of)
				}
			}
			f.over()
			f.resumed("work", 4)
		})
	}
}

// The second Ctrl-C kills the tasks of its own sweep, whatever their grace, and no others.
func TestSecondInterruptKills(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	f.write("p/work.sh", "trap '' TERM\necho $TASK_INDEX >> ../../../attempts\n"+
		"until test -e ../../../go-${SWEEP_ID%-*}; do sleep 0.02; done\n")
	work := f.start(nil, "--local", "-d", "p", "--slots", "3", "work", "--limit", "2")
	f.running(2)
	other := f.start(nil, "--local", "-d", "p", "other")
	f.running(3)
	f.signal(work, syscall.SIGINT)
	work.shows("stopping work-1; press Ctrl-C again to kill its tasks now")
	f.signal(work, syscall.SIGINT)
	work.ends(130)
	work.shows("killed the tasks of work-1; to continue: run-tasks resume work-1")
	eventually(t, deadline, "no task of work-1 runs, and both of other-1", func() bool {
		for _, p := range processtest.Running() {
			if p.Environ["SWEEP_ID"] == "work-1" && slices.Contains(f.processes(), p.PID) {
				return false
			}
		}
		shown, _, _ := f.run("show", "other-1")
		return strings.Contains(shown, "2 running")
	})
	f.write("go-other", "")
	other.ends(0, "other-1: 2 tasks: 2 succeeded")
}

// A sweep that is detached runs on without its terminal.
func TestInTheBackground(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	term := openTerminal(t, 80)
	begun := time.Now()
	c := f.start(term.tty, "--local", "-d", "p", "--slots", "2", "--detach", "work")
	c.ends(0)
	t.Logf("it returned after %v", time.Since(begun))
	_ = term.tty.Close()
	eventually(t, deadline, "it says how the sweep is followed", func() bool {
		return strings.Contains(term.seen.String(), "cancel work-1\r\n")
	})
	_ = term.ptmx.Close()
	if text := term.seen.String(); !strings.Contains(text, "work-1\r\nwork-1 is running in the "+
		"background: 4 tasks\r\nfollow: run-tasks follow work-1\r\n"+
		"cancel: run-tasks cancel work-1\r\n") {
		t.Errorf("it says %q", text)
	}
	f.running(3)
	id, _, code := f.run("--local", "-d", "p", "-q", "--detach", "other")
	if id != "other-1\n" || code != 0 {
		t.Errorf("exit code %d, it prints %q", code, id)
	}
	follower := f.start(nil, "follow", "other-1")
	follower.shows("following other-1: ")
	f.signal(follower, syscall.SIGINT)
	follower.ends(0)
	f.write("go-work", "")
	f.write("go-other", "")
	f.over()
	for id, n := range map[string]int{"work-1": 4, "other-1": 2} {
		if shown, _, _ := f.run("show", id); !strings.Contains(shown,
			fmt.Sprintf("%d tasks: %[1]d succeeded", n)) {
			t.Errorf("%s: %s", id, shown)
		}
	}
}

// A client leaves a runner that has logged something before, and goes on with another sweep.
func TestLeavesAfterLog(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	f.start(nil, "--local", "-d", "p", "--slots", "6", "--detach", "work").ends(0)
	other := f.start(nil, "--local", "-d", "p", "other")
	f.running(4)
	if err := os.Remove(f.path(".mlframework/lock")); err != nil {
		t.Fatal(err)
	}
	other.shows("it was made again")
	told := time.Now()
	eventually(t, deadline, "the time to write that is over", func() bool {
		return time.Since(told) > 1100*time.Millisecond
	})
	f.write("go-other", "")
	other.ends(0)
	if said := other.stderr.String(); strings.Contains(said, "left behind") {
		t.Errorf("it takes the runner for one that ends: %s", said)
	}
	f.write("go-work", "")
	f.over()
}

// What the runner logs while no client is attached is in its log only: the next client does not get it.
func TestLogWithoutClients(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	f.start(nil, "--local", "-d", "p", "--slots", "2", "--detach", "work").ends(0)
	f.running(3)
	if err := os.Remove(f.path(".mlframework/lock")); err != nil {
		t.Fatal(err)
	}
	eventually(t, deadline, "it is logged", func() bool {
		log, _ := os.ReadFile(f.path(".mlframework/runner.log"))
		return strings.Contains(string(log), "it was made again")
	})
	if _, stderr, code := f.run("priority", "work-1", "3"); code != 0 || stderr != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	f.write("go-work", "")
	f.over()
}

// A sweep that is resumed with --detach does not end with the terminal that it was started in.
func TestResumedInTheBackground(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work, other := f.pair(nil)
	f.signal(work, syscall.SIGINT)
	work.ends(130)
	if stdout, stderr, code := f.run("resume", "--detach", "work-1"); code != 0 ||
		stdout != "work-1\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	f.write("go-work", "")
	f.write("go-other", "")
	other.ends(0)
	f.over()
	if shown, _, _ := f.run("show", "work-1"); !strings.Contains(shown, "4 tasks: 4 succeeded") {
		t.Errorf("work-1: %s", shown)
	}
}

// When the runner is killed, every terminal says how its sweep stands, and nothing is lost.
func TestRunnerKilled(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(f folder){
		"guard":    func(f folder) { guard, _ := f.runner(); processtest.Kill(f.t, guard) },
		"executor": func(f folder) { _, executor := f.runner(); processtest.Kill(f.t, executor) },
		"both":     folder.killRunner,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPair(t)
			work, other := f.pair(nil)
			f.known(2)
			kill(f)
			for id, c := range map[string]*call{"work-1": work, "other-1": other} {
				c.ends(5)
				if said := c.stderr.String(); !strings.Contains(said, "run-tasks: the process that "+
					"ran the tasks was killed, or the machine had no memory left\n  "+id+": ") ||
					!strings.HasSuffix(said, "`run-tasks resume "+id+"` runs the rest\n") {
					t.Errorf("it says %s", said)
				}
			}
			f.resumed("work", 4)
			f.resumed("other", 2)
		})
	}
}

// A sweep goes on when the program that reads its output has ended.
func TestReaderEnds(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "echo here; test $TASK_INDEX = 3 && exit 1; exit 0\n")
	cmd := exec.Command("bash", "-c", program+` --local -d p work | head -n 1; exit ${PIPESTATUS[0]}`)
	cmd.Dir = f.dir
	c := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	c.ends(1)
	if shown, _, _ := f.run("show"); !strings.Contains(shown, "4 tasks: 3 succeeded, 1 failed") {
		t.Errorf("%s", shown)
	}
}

// What changes something waits for a process that has the store and cannot be asked: a runner that
// begins, or ends.
func TestStoreInUse(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "metrics: {acc: 'acc=(.*)'}", "echo acc=1; test $TASK_INDEX = 0 || exit 1")
	f.start(nil, "--local", "-d", "p", "work").ends(1)
	for _, k := range []struct{ args, says string }{
		{"priority work-1 3", "work-1 has priority 3"},
		{"results --reread work-1", "re-read the metrics of 4 tasks"},
	} {
		st, err := store.Open(t.Context(), f.path(".mlframework"), "the test")
		if err != nil {
			t.Fatal(err)
		}
		c := f.start(nil, strings.Fields(k.args)...)
		c.shows("note: waiting for the end of the test (pid ")
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		c.ends(0)
		c.shows(k.says)
	}
}

// Tasks of a second terminal inherit its environment byte for byte, without what is no
// variable.
func TestEnvironmentOfEachTerminal(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	f.write("p/tasks.yml", `tasks:
  work: {command: [sh, work.sh], parameters: parameters.yml, grace: 30s}
  other: {command: [sh, -c, 'printf %s "$LATIN" > ../../../latin']}
`)
	work := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	cmd := exec.Command(program, "--local", "-d", "p", "other")
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+f.path(".cache"), "LATIN=\xfc\xfe", "NOTHING")
	other := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	other.shows("other-1 runs behind work-1")
	f.write("go-work", "")
	work.ends(0)
	other.ends(0)
	if got, _ := os.ReadFile(f.path("latin")); string(got) != "\xfc\xfe" {
		t.Errorf("it inherited %q", got)
	}
}

// A sweep is resumed, retried and extended while another one runs.
func TestGoesOnBeside(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "other")
	f.running(2)
	f.signal(c, syscall.SIGINT)
	c.ends(130)
	work := f.start(nil, "--local", "-d", "p", "--slots", "3", "work")
	eventually(t, deadline, "all tasks of work-1 have begun", func() bool {
		return len(f.lines("attempts")) == 6
	})
	resumed := f.start(nil, "resume", "other-1")
	resumed.shows("other-1 runs behind work-1, on the same 3 slots")
	f.write("p/two.yml", "x: [1, 2, 3]\n")
	extended := f.start(nil, "extend", "other-1")
	extended.shows("other-1 runs behind work-1, ")
	f.write("go-other", "")
	f.write("go-work", "")
	work.ends(0, "work-1: 4 tasks: 4 succeeded")
	resumed.ends(0, "other-1: 3 tasks: 3 succeeded")
	extended.ends(0, "other-1/2 succeeded", "other-1: 3 tasks: 3 succeeded")
}

// A runner of another version is not asked for what it may understand otherwise.
func TestRunnerOfAnotherVersion(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	older := filepath.Join(t.TempDir(), "run-tasks")
	build := exec.Command("go", "build", "-o", older, "-ldflags",
		"-X mlframework/cmd/internal/cli.stamped=v0.0.1", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(older, "--local", "-d", "p", "--slots", "2", "work")
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+f.path(".cache"))
	c := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	f.running(3)
	_, stderr, code := f.run("--local", "-d", "p", "other")
	if want := "run-tasks: the sweeps of this folder are run by another version of run-tasks " +
		"(v0.0.1; this is "; code != 5 || !strings.HasPrefix(stderr, want) ||
		!strings.Contains(stderr, "\n  wait for it (`run-tasks follow`), ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	f.write("go-work", "")
	c.ends(0)
	if shown, _, _ := f.run("ls"); strings.Contains(shown, "other") {
		t.Error(fmt.Sprintln("it was submitted:", shown))
	}
}

// When the disk of outputs is full, the folder is moved, or the store is removed, that ends the
// sweeps of all terminals, with the same words.
func TestEndsInEveryTerminal(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		f := newPair(t)
		f.disk("outputs", "size=1m")
		f.write("p/work.sh", `test "$SWEEP_ID $TASK_INDEX" = "work-1 0" || exit 0
echo $TASK_INDEX >> ../../../attempts; until test -e ../../../go-work; do sleep 0.02; done
yes | head -c 2000000
`)
		work := f.start(nil, "--local", "-d", "p", "--slots", "1", "work")
		f.running(1)
		other := f.start(nil, "--local", "-d", "p", "other")
		other.shows("other-1 runs behind work-1")
		f.write("go-work", "")
		work.ends(5)
		other.ends(5)
		for id, c := range map[string]*call{"work-1": work, "other-1": other} {
			if want := id + " is paused (no space left for outputs ("; !strings.Contains(
				c.stderr.String(), want) {
				t.Errorf("it does not say %q:\n%s", want, c.stderr)
			}
		}
	})
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		f := newPair(t)
		work, other := f.pair(nil)
		from := f.dir
		f.dir = filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(from, f.dir); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*call{work, other} {
			c.ends(5)
			if want := "run-tasks: the folder " + from + " was moved while its sweeps ran\n"; !strings.
				Contains(c.stderr.String(), want) {
				t.Errorf("it does not say %q:\n%s", want, c.stderr)
			}
		}
		f.resumed("work", 4)
		f.resumed("other", 2)
	})
	t.Run("removed", func(t *testing.T) {
		t.Parallel()
		f := newPair(t)
		work, other := f.pair(nil)
		if err := os.RemoveAll(f.path(".mlframework")); err != nil {
			t.Fatal(err)
		}
		work.ends(5)
		other.ends(5)
		for id, c := range map[string]*call{"work-1": work, "other-1": other} {
			if want := "run-tasks: the store of this folder was removed while " + id +
				" ran: what it held is lost\n"; !strings.Contains(c.stderr.String(), want) {
				t.Errorf("it does not say %q:\n%s", want, c.stderr)
			}
		}
		if left, _ := os.ReadDir(f.path(".mlframework")); len(left) > 0 {
			t.Errorf("there is %v again", left)
		}
	})
}

// The runner of another user is sent nothing: not even root's environment.
func TestRunnerOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can be another user")
	}
	const nobody = 65534
	f := newPair(t)
	if out, err := exec.Command("chown", "-R", fmt.Sprint(nobody), f.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(filepath.Dir(f.dir), 0o755); err != nil { // of this test
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--local", "-d", "p", "--slots", "2", "work")
	cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "HOME="+f.dir)
	work := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true,
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody}})
	f.running(3)
	for _, args := range []string{"pause work-1", "--local -d p other"} {
		if _, stderr, code := f.run(strings.Fields(args)...); code == 0 || !strings.Contains(stderr,
			"the runner of this folder belongs to another user, whose number is 65534\n") {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
	f.write("go-work", "")
	work.ends(0)
}
