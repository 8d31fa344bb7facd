package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

func init() {
	helpers["pair"] = func() int {
		if !process.Guarded() {
			code, err := process.RunGuarded("sweep-executor")
			if _, killed := errors.AsType[*process.Killed](err); err != nil && !killed {
				fmt.Println(err)
				return 99
			}
			return code
		}
		return executor()
	}
}

// executor runs PROGRAM until a signal comes, and prints what it sees.
func executor() int {
	// not cancelled: a late signal would end the process before its exit code
	ctx := context.Background()
	signals := process.Notify(ctx, syscall.SIGINT, syscall.SIGTERM)
	k, err := newKeeper()
	if err != nil {
		fmt.Println(err)
		return 98
	}
	name, _ := os.ReadFile("/proc/self/comm")
	_, marked := os.LookupEnv("MLFRAMEWORK_GUARD")
	fmt.Println("executor", os.Getpid(), strings.TrimSpace(string(name)),
		os.Args[0] == os.Getenv("ARGV0"), marked)
	dir := os.Getenv("DIR")
	spec := process.Spec{
		Argv: append(strings.Fields(os.Getenv("INTERPRETER")),
			os.Getenv("PROGRAM")), Dir: dir, Stdout: os.Stdout, Stderr: os.Stdout,
		Env: []string{"PATH=" + os.Getenv("PATH"),
			os.Getenv("MARK")}, Marks: []string{os.Getenv("MARK")}, Grace: time.Second,
	}
	done := make(chan process.Exit, 1)
	go func() { done <- k.Run(ctx, spec) }()
	count := 0
	for {
		select {
		case s := <-signals:
			if count++; count == 2 {
				k.KillAll()
				return 77
			}
			fmt.Println("signal", s)
		case e := <-done:
			return e.Code
		}
	}
}

// pair is a running guard with its executor.
type pair struct {
	guard    *exec.Cmd
	executor string // pid
	lines    *bufio.Scanner
	spec     process.Spec
}

func startPair(t *testing.T, body string) *pair {
	t.Helper()
	s, _ := python(t, body)
	return startPairOf(t, s)
}

func startPairOf(t *testing.T, s process.Spec) *pair {
	t.Helper()
	last := len(s.Argv) - 1
	p := &pair{spec: s, guard: exec.Command(os.Args[0])}
	p.guard.Env = append(os.Environ(), "HELPER=pair", "ARGV0="+os.Args[0], "DIR="+s.Dir,
		"MARK="+s.Marks[0],
		"PROGRAM="+s.Argv[last], "INTERPRETER="+strings.Join(s.Argv[:last], " "))
	p.guard.Stderr = os.Stderr
	out, err := p.guard.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.guard.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.guard.Process.Kill() })
	p.lines = bufio.NewScanner(out)
	f := strings.Fields(p.line())
	if len(f) != 5 || f[0] != "executor" {
		t.Fatalf("printed %q", f)
	}
	if want := []string{"sweep-executor", "true", "false"}; !slices.Equal(f[2:], want) {
		t.Errorf("name, own argv[0] again, marker still there: %q, want %q", f[2:], want)
	}
	p.executor = f[1]
	return p
}

func (p *pair) line() string {
	p.lines.Scan()
	return p.lines.Text()
}

// within fails when f does not become true in time.
func within(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("not within %v: %s", limit, what)
			return
		}
	}
}

func (p *pair) treeGone() bool {
	text, _ := os.ReadFile(p.spec.Dir + "/pids")
	return !slices.ContainsFunc(append(strings.Fields(string(text)), p.executor), alive)
}

const stubbornTree = `
daemon(stubborn)
daemon(lambda: bare(0))
if os.fork() == 0: stubborn()
noted(3)
print("ready", flush=True)
stubborn()`

func TestGuardKilled(t *testing.T) {
	p := startPair(t, stubbornTree)
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	_ = p.guard.Process.Kill()
	within(t, soon, "all gone after the guard's death", p.treeGone)
	_ = p.guard.Wait()
	noneAlive(t, p.spec)
}

func TestExecutorKilled(t *testing.T) {
	p := startPair(t, stubbornTree)
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	start := time.Now()
	if err := exec.Command("kill", "-9", p.executor).Run(); err != nil {
		t.Fatal(err)
	}
	_ = p.guard.Wait()
	if code := p.guard.ProcessState.ExitCode(); code != 137 || time.Since(start) > soon {
		t.Errorf("the guard ended with %d after %v", code, time.Since(start))
	}
	if !p.treeGone() {
		t.Error("something lives")
	}
	noneAlive(t, p.spec)
}

// killBoth kills guard and executor such that neither sees the end of the other.
func (p *pair) killBoth(t *testing.T) {
	t.Helper()
	pids := []string{fmt.Sprint(p.guard.Process.Pid), p.executor}
	signal := func(name string) {
		if err := exec.Command("kill", append([]string{name}, pids...)...).Run(); err != nil {
			t.Fatal(err)
		}
	}
	signal("-STOP")
	within(t, soon, "all their threads stand", func() bool {
		return !slices.ContainsFunc(pids, func(pid string) bool {
			threads, _ := filepath.Glob("/proc/" + pid + "/task/*/stat")
			return slices.ContainsFunc(threads, func(file string) bool {
				stat, err := os.ReadFile(file)
				state, ok := process.ParseStat(stat)
				return err == nil && ok && state != 'T'
			})
		})
	})
	signal("-KILL")
	_ = p.guard.Wait()
	within(t, soon, "executor gone", func() bool { return !alive(p.executor) })
}

func TestBothKilled(t *testing.T) {
	p := startPair(t, "daemon(stubborn)\nif os.fork() == 0: bare(0)\nnoted(2)\n"+
		"print('ready', flush=True)\nstubborn()")
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	p.killBoth(t)
	match := func(env []string) bool { return slices.Contains(env, p.spec.Marks[0]) }
	if left := process.Leftovers(match); len(left) < 2 {
		t.Errorf("only %v survived, a weak test", left)
	}
	killed, err := process.KillLeftovers(t.Context(), match)
	if killed < 2 || err != nil || !p.treeGone() {
		t.Errorf("killed %d: %v", killed, err)
	}
	if killed, err := process.KillLeftovers(t.Context(),
		func([]string) bool { return false }); killed != 0 || err != nil {
		t.Errorf("killed %d that do not match: %v", killed, err)
	}
	noneAlive(t, p.spec)
}

func TestSignalsOfThePair(t *testing.T) {
	p := startPair(t, "print('ready', flush=True)\nstay()")
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	guard := fmt.Sprint(p.guard.Process.Pid)
	// As a terminal does: both get it.
	if err := exec.Command("kill", "-INT", guard, p.executor).Run(); err != nil {
		t.Fatal(err)
	}
	if got := p.line(); got != "signal interrupt" {
		t.Errorf("printed %q", got)
	}
	within(t, soon, "a second signal ends it", func() bool {
		_ = p.guard.Process.Signal(syscall.SIGTERM)
		return p.treeGone()
	})
	_ = p.guard.Wait()
	if code := p.guard.ProcessState.ExitCode(); code != 77 {
		t.Errorf("exit code %d", code)
	}
	noneAlive(t, p.spec)
}

func TestProgramsOfThePairInheritNothing(t *testing.T) {
	s, _ := shell(t, "(ls /proc/self/fd; tr '\\0' '\\n' < /proc/$$/environ | cut -d= -f1) | "+
		"tr '\\n' ' '; echo; exit 5")
	p := startPairOf(t, s)
	if got := p.line(); got != "0 1 2 3 PATH TASK_ID " { // 3 is the directory that ls reads
		t.Errorf("descriptors and variables: %s", got)
	}
	_ = p.guard.Wait()
	if code := p.guard.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit code %d", code)
	}
}
