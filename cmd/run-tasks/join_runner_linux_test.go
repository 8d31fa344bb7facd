package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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

// pair starts work, with both of its slots busy, and other, which has joined it.
func (f folder) pair(terminal *os.File) (work, other *call) {
	f.t.Helper()
	work = f.start(terminal, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	other = f.start(nil, "--local", "-d", "p", "--slots", "2", "other")
	other.shows("other-1 runs in the process of another terminal, behind work-1, on its 2 slots; " +
		"Ctrl-C leaves it running")
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

const staysFor = "note: other-1 of another terminal still runs in this process, which ends after " +
	"that; Ctrl-C ends it now, and it goes on in the other terminal, where tasks that run begin " +
	"again\n"

// A runner whose own sweep has ended stays for that of another terminal.
func TestRunnerStays(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work, other := f.pair(nil)
	f.write("go-work", "")
	work.shows(staysFor)
	work.shows("work-1: 4 tasks: 4 succeeded") // on the other stream, whose reader may be later
	f.write("go-other", "")
	other.ends(0, "other-1/1 succeeded", "other-1: 2 tasks: 2 succeeded")
	work.ends(0)
	if strings.Contains(work.stdout.String(), "other-1") {
		t.Errorf("it shows another's sweep:\n%s", work.stdout)
	}
	if all := f.lines("attempts"); len(all) != 6 {
		t.Errorf("%d attempts", len(all))
	}
}

// A runner that has nothing to do, or is interrupted before its sweep begins, ends at once also
// where another terminal has joined it: without a worker it cannot run that sweep.
func TestRunnerWithoutWork(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		code string // the patterns of tasks.yml
		ran  bool
		end  func(f folder, c *call)
		says string
		exit int
	}{
		"nothing missing": {"work.sh", true, func(folder, *call) {},
			"nothing is missing: 4 combinations of work, and each has succeeded\n", 0},
		"Ctrl-C": {"none", false, func(f folder, c *call) { f.signal(c, syscall.SIGINT) },
			"\"none\" names no file of the project\n", 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "code: ["+k.code+"]", "")
			f.write("q/tasks.yml",
				"tasks:\n  other: {command: [\"true\"], parameters: two.yml}\n")
			f.write("q/two.yml", "x: [1, 2]\n")
			if k.ran {
				f.start(nil, "--local", "-d", "p", "work").ends(0)
			}
			c, read := f.blocked("--local", "-d", "p", "--missing", "work")
			eventually(t, deadline, "it is the runner", func() bool {
				conn, err := net.Dial("unix", f.path(".mlframework/run.sock"))
				if err == nil {
					_ = conn.Close()
				}
				return err == nil
			})
			other := f.start(nil, "--local", "-d", "q", "other")
			other.shows("other-1 runs in the process of another terminal")
			k.end(f, c)
			said := read()
			c.ends(k.exit)
			if text := said(); !strings.Contains(text, k.says) {
				t.Errorf("it says %s", text)
			}
			other.shows("note: other-1 runs in this terminal from now on; Ctrl-C stops it\n")
			other.ends(0, "other-1: 2 tasks: 2 succeeded")
		})
	}
}

// blocked starts the program with a full pipe as its standard error: it goes no further than its
// first message. Read empties the pipe from then on; the function that it returns gives what the
// program had said at its end.
func (f folder) blocked(args ...string) (c *call, read func() (said func() string)) {
	f.t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = out.Close() })
	size, _, failed := syscall.Syscall(syscall.SYS_FCNTL, in.Fd(), syscall.F_GETPIPE_SZ, 0)
	if failed != 0 {
		f.t.Fatal(failed)
	}
	if _, err := in.Write(make([]byte, size)); err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, new(buffer), in
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+f.path(".cache"))
	c = f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	_ = in.Close()
	return c, func() func() string {
		all := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(out) // to the end of the program
			all <- strings.TrimLeft(string(text), "\x00")
		}()
		return func() string { return <-all }
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
		{"results --reread work-1", "metrics of 4 tasks were read again"},
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

// Ctrl-C in the terminal that joined, or its death, leaves its sweep running.
func TestJoinedLeaves(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		end  func(f folder, c *call)
		code int
		says string
	}{
		"Ctrl-C": {func(f folder, c *call) { f.signal(c, syscall.SIGINT) }, 0,
			"other-1 keeps running; to follow it: run-tasks follow other-1\n"},
		"hangup": {func(f folder, c *call) { f.signal(c, syscall.SIGHUP) }, 0,
			"other-1 keeps running; to follow it: run-tasks follow other-1\n"},
		"guard": {func(f folder, c *call) { processtest.Kill(f.t, c.guard()) }, 137, ""},
		"executor": {func(f folder, c *call) { processtest.Kill(f.t, c.executor()) }, 5,
			"other-1 and work-1 go on in the process of another terminal; `run-tasks follow " +
				"work-1` shows it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPair(t)
			work, other := f.pair(nil)
			k.end(f, other)
			other.ends(k.code)
			said := strings.ReplaceAll(other.stderr.String(), "work-1 and other-1",
				"other-1 and work-1")
			said = strings.ReplaceAll(said, "follow other-1` shows", "follow work-1` shows")
			if !strings.Contains(said, k.says) {
				t.Errorf("it says %s", other.stderr)
			}
			f.write("go-other", "")
			f.write("go-work", "")
			work.ends(0)
			if shown, _, _ := f.run("show", "other-1"); !strings.Contains(shown,
				"2 tasks: 2 succeeded") {
				t.Errorf("other-1: %s", shown)
			}
			if all := f.lines("attempts"); len(all) != 6 {
				t.Errorf("%d attempts", len(all))
			}
		})
	}
}

// Ctrl-C in the terminal of the runner stops its own sweep, and no other.
func TestRunnerInterrupted(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work, other := f.pair(nil)
	f.signal(work, syscall.SIGINT)
	work.shows("work-1 is paused (interrupted); to continue: run-tasks resume work-1\n")
	work.shows(staysFor)
	f.write("go-other", "")
	other.ends(0, "other-1: 2 tasks: 2 succeeded")
	work.ends(130)
	if stopped := f.lines("stopped"); len(stopped) != 2 ||
		strings.Contains(strings.Join(stopped, ""), "other") {
		t.Errorf("stopped were %v", stopped)
	}
	f.write("go-work", "")
	if stdout, _, code := f.run("resume", "work-1"); code != 0 || !strings.Contains(stdout,
		"work-1: 4 tasks: 4 succeeded") {
		t.Errorf("resume: %d: %s", code, stdout)
	}
}

// When the runner ends, however that happens, the terminal that joined it is the next one: nothing
// of its sweep is lost.
func TestRunnerFollowed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f folder, c *call){
		"guard":    func(f folder, c *call) { processtest.Kill(f.t, c.guard()) },
		"executor": func(f folder, c *call) { processtest.Kill(f.t, c.executor()) },
		"both":     func(f folder, c *call) { processtest.Kill(f.t, c.guard(), c.executor()) },
		"Ctrl-C twice": func(f folder, c *call) {
			f.signal(c, syscall.SIGINT)
			c.shows("Ctrl-C again leaves at once")
			f.signal(c, syscall.SIGINT)
		},
		"Ctrl-C while it stays": func(f folder, c *call) {
			f.signal(c, syscall.SIGINT)
			c.shows(staysFor)
			eventually(f.t, deadline, "both of other-1 began", func() bool {
				return len(f.lines("attempts")) >= 5
			})
			f.signal(c, syscall.SIGINT)
			f.t.Cleanup(func() {
				if stopped := f.lines("stopped"); len(stopped) != 3 || stopped[2] != "other-1" {
					f.t.Errorf("stopped with their grace were %v", stopped)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPair(t)
			work, other := f.pair(nil)
			third := f.start(nil, "follow", "other-1")
			third.shows("following other-1: ")
			end(f, work)
			work.wait()
			other.shows("the process that ran other-1 has ended: it goes on in this terminal, or " +
				"in another one that has a sweep here\n")
			eventually(t, deadline, "other-1 runs", func() bool {
				shown, _, _ := f.run("show", "other-1")
				return strings.Contains(shown, "1 running")
			})
			other.shows("note: other-1 runs in this terminal from now on; Ctrl-C stops it\n")
			if shown, _, _ := f.run("show", "work-1"); !strings.Contains(shown, "paused: ") {
				t.Errorf("work-1: %s", shown)
			}
			third.shows("note: the process that ran other-1 has ended: it goes on in another " +
				"terminal\n")
			f.write("go-other", "")
			other.ends(0, "other-1/1 succeeded", "other-1: 2 tasks: 2 succeeded")
			third.ends(0, "other-1/1 succeeded", "other-1: 2 tasks: 2 succeeded")
			f.write("go-work", "")
			if stdout, _, code := f.run("resume", "work-1"); code != 0 || !strings.Contains(stdout,
				"work-1: 4 tasks: 4 succeeded") {
				t.Errorf("resume: %d: %s", code, stdout)
			}
		})
	}
}

// A terminal that shows less of its sweep, or another form of it, is the next runner likewise.
func TestRunnerFollowedQuietly(t *testing.T) {
	t.Parallel()
	for _, look := range []string{"-q", "--json"} {
		t.Run(look, func(t *testing.T) {
			t.Parallel()
			f := newPair(t)
			work := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
			f.running(3)
			other := f.start(nil, "--local", "-d", "p", "--slots", "2", look, "other")
			eventually(t, deadline, "other-1 is there", func() bool {
				shown, _, _ := f.run("ls")
				return strings.Contains(shown, "other-1")
			})
			processtest.Kill(t, work.guard(), work.executor())
			work.wait()
			f.write("go-other", "")
			other.ends(0)
			shown, _, _ := f.run("show", "other-1")
			if !strings.Contains(shown, "2 tasks: 2 succeeded") {
				t.Errorf("other-1: %s%s", shown, other.stderr)
			}
		})
	}
}

// Nothing is lost when the terminal of the runner is closed.
func TestRunnersTerminalClosed(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	term := openTerminal(t, 80)
	work, other := f.pair(term.tty)
	_ = term.tty.Close()
	_ = term.ptmx.Close()
	f.write("go-other", "")
	other.ends(0, "other-1: 2 tasks: 2 succeeded")
	work.wait()
	f.write("go-work", "")
	if stdout, _, code := f.run("resume", "work-1"); code != 0 || !strings.Contains(stdout,
		"work-1: 4 tasks: 4 succeeded") {
		t.Errorf("resume: %d: %s", code, stdout)
	}
}

// Of three terminals, when the runner is killed, one of the others is the next, and the third joins
// that.
func TestThreeTerminals(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work, other := f.pair(nil)
	third := f.start(nil, "--local", "-d", "p", "other")
	third.shows("other-2 runs in the process of another terminal, behind ")
	processtest.Kill(t, work.guard(), work.executor())
	work.wait()
	for _, c := range []*call{other, third} {
		c.shows("has ended: it goes on in this terminal")
	}
	f.write("go-other", "")
	other.ends(0, "other-1: 2 tasks: 2 succeeded")
	third.ends(0, "other-2: 2 tasks: 2 succeeded")
}

// A sweep that a runner kept, and did not live to tell of, runs in the terminal that submitted it.
func TestRunnerDiesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	f := newPair(t)
	work := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	socket, behind := f.path(".mlframework/run.sock"), f.path(".mlframework/behind.sock")
	if err := os.Link(socket, behind); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket+".own")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(socket+".own", socket); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				far, err := net.Dial("unix", behind)
				if err != nil {
					return
				}
				defer far.Close()
				go func() { _, _ = io.Copy(far, near) }()
				answer := make([]byte, 1<<16)
				for {
					n, err := far.Read(answer)
					if err != nil {
						return
					}
					if bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 201 ")) { // the sweep is kept
						processtest.Kill(t, work.guard(), work.executor())
						_ = l.Close()
						return
					}
					_, _ = near.Write(answer[:n])
				}
			}()
		}
	}()
	f.write("go-other", "")
	other := f.start(nil, "--local", "-d", "p", "--slots", "2", "other")
	other.ends(0, "other-1: 2 tasks: 2 succeeded")
	if shown, _, _ := f.run("ls"); strings.Contains(shown, "other-2") {
		t.Errorf("it was submitted twice:\n%s", shown)
	}
}

// Tasks of a terminal that joined inherit its environment byte for byte, without what is no
// variable.
func TestJoinedEnvironment(t *testing.T) {
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
	other.shows("other-1 runs in the process of another terminal")
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
	f.running(6)
	resumed := f.start(nil, "resume", "other-1")
	resumed.shows(
		"other-1 runs in the process of another terminal, behind work-1, on its 3 slots; ")
	f.write("p/two.yml", "x: [1, 2, 3]\n")
	extended := f.start(nil, "extend", "other-1")
	extended.shows("other-1 runs in the process of another terminal, behind work-1, ")
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
	if want := "run-tasks: what runs in this folder is another version of run-tasks (v0.0.1; " +
		"this is "; code != 5 || !strings.HasPrefix(stderr, want) ||
		!strings.Contains(stderr, "\n  wait for it (`run-tasks follow`), ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	f.write("go-work", "")
	c.ends(0)
	if shown, _, _ := f.run("ls"); strings.Contains(shown, "other") {
		t.Error(fmt.Sprintln("it was submitted:", shown))
	}
}

// When the disk of outputs is full, or the store is removed, that ends the sweeps of all terminals,
// with the same words.
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
		other.shows("other-1 runs in the process of another terminal")
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
