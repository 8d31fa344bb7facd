package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/processtest"
)

// deadline is far more than anything takes that is waited for.
const deadline = 30 * time.Second

// eventually waits until ok holds.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// folder is a project and the place where it is run.
type folder struct {
	t   *testing.T
	dir string
}

// newFolder makes a project of one definition, work: four points, each of which runs a shell
// script. Every attempt adds a line to the file attempts: after the script's first line where that
// is a trap, so that what is counted has set it.
func newFolder(t *testing.T, options, script string) folder {
	t.Helper()
	f := folder{t, t.TempDir()}
	f.write("p/tasks.yml", "tasks:\n  work: {command: [sh, work.sh], parameters: parameters.yml, "+
		options+"}\n")
	f.write("p/parameters.yml", "x: [1, 2, 3, 4]\n")
	trap := ""
	if strings.HasPrefix(script, "trap ") {
		trap, script, _ = strings.Cut(script, "\n")
	}
	f.write("p/work.sh", trap+"\necho \"$TASK_INDEX $ATTEMPT\" >> "+f.path("attempts")+"\n"+script)
	return f
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) write(name, text string) {
	f.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(f.path(name)), 0o755), os.WriteFile(f.path(name),
		[]byte(text), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

// lines reads a file, which need not be there.
func (f folder) lines(name string) []string {
	text, _ := os.ReadFile(f.path(name))
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// run runs the program to its end.
func (f folder) run(args ...string) (stdout, stderr string, code int) {
	f.t.Helper()
	c := f.start(nil, args...)
	code = c.wait()
	return c.stdout.String(), c.stderr.String(), code
}

// call is the program as it runs.
type call struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr *buffer
	ended          chan struct{}
}

// start starts the program with one terminal for everything, or with pipes.
func (f folder) start(terminal *os.File, args ...string) *call {
	f.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "XDG_CACHE_HOME="+f.path(".cache"))
	how := &syscall.SysProcAttr{Setpgid: true}
	if terminal != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		how = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	return f.begin(cmd, how)
}

// begin starts a command that is the program, and keeps what it says unless it has a terminal. With
// the test it ends.
func (f folder) begin(cmd *exec.Cmd, how *syscall.SysProcAttr) *call {
	f.t.Helper()
	c := &call{t: f.t, cmd: cmd, stdout: &buffer{}, stderr: &buffer{}, ended: make(chan struct{})}
	cmd.SysProcAttr = how
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = cmd.Wait() // the exit code says it
	}()
	f.t.Cleanup(func() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.ended
		for _, p := range f.runners() {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		for _, pid := range f.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return c
}

// over reports whether it has ended.
func (c *call) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// wait returns the exit code, 128 + N when signal N ended it.
func (c *call) wait() int {
	c.t.Helper()
	return c.waitFor(deadline)
}

// waitFor is wait for what may take longer.
func (c *call) waitFor(within time.Duration) int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(within):
		c.t.Fatalf("it does not end:\n%s%s", c.stdout, c.stderr)
	}
	if status := c.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.cmd.ProcessState.ExitCode()
}

// pid is that of the program, which leads its process group.
func (c *call) pid() int { return c.cmd.Process.Pid }

// runner returns the pids of the pair of processes that is the folder's runner.
func (f folder) runner() (guard, executor int) {
	f.t.Helper()
	eventually(f.t, deadline, "a runner", func() bool {
		for _, p := range f.runners() {
			if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Parent)); isRunner(command) {
				guard, executor = p.Parent, p.PID
				return true
			}
		}
		return false
	})
	return guard, executor
}

// runners lists the processes of the folder's runner.
func (f folder) runners() (all []processtest.Process) {
	for _, p := range processtest.Running() {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID)); dir == f.dir &&
			isRunner(command) {
			all = append(all, p)
		}
	}
	return all
}

func isRunner(command []byte) bool {
	words := strings.Split(string(command), "\x00")
	return len(words) > 1 && words[1] == "runner"
}

// killRunner kills both processes of the folder's runner at once.
func (f folder) killRunner() {
	f.t.Helper()
	guard, executor := f.runner()
	processtest.Kill(f.t, guard, executor)
}

// buffer is written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// processes lists the pids of the attempts of this folder that live.
func (f folder) processes() (pids []int) {
	for _, p := range processtest.Running() {
		if strings.HasPrefix(p.Environ["OUTPUT_DIR"], f.path("outputs")) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// running waits until n processes have the folder's attempts, and that many have begun.
func (f folder) running(n int) {
	f.t.Helper()
	eventually(f.t, deadline, fmt.Sprintf("%d attempts run", n), func() bool {
		return len(f.lines("attempts")) >= n && len(f.processes()) >= n
	})
}

// known waits until the store has n tasks as running: it learns of a start a little later. With
// ended, so many others have succeeded before, whose slots the last of these have.
func (f folder) known(n int, ended ...int) {
	f.t.Helper()
	eventually(f.t, deadline, fmt.Sprintf("%d tasks are known to run", n), func() bool {
		shown, _, _ := f.run("ls", "--json")
		for _, e := range ended {
			if !strings.Contains(shown, fmt.Sprintf(`"succeeded":%d,`, e)) {
				return false
			}
		}
		return strings.Contains(shown, fmt.Sprintf(`"running":%d,`, n))
	})
}

// dead waits until nothing of this folder is alive. How long that took it logs: a busy machine
// takes its time.
func (f folder) dead(within time.Duration, pids ...int) {
	f.t.Helper()
	since := time.Now()
	eventually(f.t, within, "nothing is alive", func() bool {
		for _, p := range processtest.Running() {
			if slices.Contains(pids, p.PID) {
				return false
			}
		}
		return len(f.processes()) == 0
	})
	f.t.Logf("nothing was alive after %v", time.Since(since).Round(time.Millisecond))
}

// complete resumes the sweep and holds that all of it succeeded, that nothing was recorded as
// failed, and that of the tasks only those ran again that had not succeeded.
func (f folder) complete(args ...string) {
	f.t.Helper()
	done, _, _ := f.run("results", "--where", "state=succeeded", "--json")
	before := len(f.lines("attempts"))
	f.write("go", "")
	stdout, stderr, code := f.run(append([]string{"resume", "--no-output"}, args...)...)
	if code != 0 || !strings.Contains(stdout, "4 tasks: 4 succeeded") {
		f.t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	missing := 4 - strings.Count(done, "\n")
	if again := f.lines("attempts")[before:]; len(again) != missing {
		f.t.Errorf("%d tasks were missing, and these ran: %q", missing, again)
	}
	for i := range 4 {
		shown, _, _ := f.run("show", "--json", fmt.Sprintf("work-1/%d", i))
		if strings.Contains(shown, `"class":"error"`) || strings.Contains(shown, "SIGKILL") {
			f.t.Errorf("task %d is said to have failed: %s", i, shown)
		}
	}
}
