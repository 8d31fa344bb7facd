package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

// python makes processes that escape. It runs body after definitions of: daemon(f): a process that
// left group, session and parent, and calls f; note(): writes its pid to a file pids.
func python(t *testing.T, body string) (process.Spec, *bytes.Buffer) {
	t.Helper()
	return spec(t, "python3", "-S", "-c", `
import os, resource, signal, sys, time
for _ in range(5000):  # the tag that all inherit comes a moment after the start
    if resource.getrlimit(10)[0] != resource.RLIM_INFINITY: break
    time.sleep(.001)
def note():
    with open("pids", "a") as f: f.write("%d\n" % os.getpid())
def daemon(f):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            f()
        os._exit(0)
    os.wait()
def stay():
    note()
    time.sleep(60)
def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stay()
def bare(f):  # with an empty environment, executed again
    note = "import os,time\nopen('pids','a').write('%d\\n' % os.getpid())\ntime.sleep(60)"
    os.execve(sys.executable, ["python3", "-S", "-c", note], {})
def noted(n):
    while True:
        try:
            if len(open("pids").read().split()) >= n: return
        except OSError: pass
        time.sleep(.002)
`+body)
}

// gone fails when one of the processes that wrote to pids lives.
func gone(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(dir + "/pids")
	if err != nil {
		t.Error(err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		if alive(pid) {
			t.Errorf("pid %s is alive", pid)
		}
	}
}

// alive tells whether a process exists and is no zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	p, ok := process.ParseStat(stat)
	return ok && p != 'Z'
}

func TestWhatOutlivesTheProgramIsEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body string
		left int
	}{
		{"a child in the group", "if os.fork() == 0: stay()\nnoted(1)", 1},
		{"a daemon", "daemon(stay)\nnoted(1)", 1},
		{"three daemons and a child",
			"for i in range(3): daemon(stay)\nif os.fork() == 0: stay()\nnoted(4)", 4},
		{"a daemon that ignores SIGTERM", "daemon(stubborn)\nnoted(1)", 1},
		{"a daemon without environment", "daemon(lambda: bare(0))\nnoted(1)", 1},
		{"a daemon with children",
			"def f():\n    if os.fork() == 0: stay()\n    stay()\ndaemon(f)\nnoted(2)", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := python(t, c.body)
			s.Grace = 500 * time.Millisecond
			start := time.Now()
			e := keeper.Run(t.Context(), s)
			if e.Cause != process.Exited || e.Code != 0 || e.Left != c.left ||
				len(e.Unkillable) > 0 {
				t.Errorf("got %v code %d left %d unkillable %v", e.Cause, e.Code, e.Left,
					e.Unkillable)
			}
			if after := time.Since(start) - e.Duration; after > soon {
				t.Errorf("took %v after the program's end", after)
			}
			gone(t, s.Dir)
			noneAlive(t, s)
		})
	}
}

func TestStopReachesTheWholeTree(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"daemon of a living program": "daemon(stay)\nnoted(1)\nprint('ready', flush=True)\n" +
			"stay()",
		"stubborn all": "daemon(stubborn)\nif os.fork() == 0: stubborn()\nnoted(2)\n" +
			"print('ready', flush=True)\nstubborn()",
		"grandchild holds the output": "if os.fork() == 0:\n    if os.fork() == 0: stubborn()\n" +
			"    stay()\nnoted(2)\nprint('ready', flush=True)\nstay()",
		"children are born while it dies": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" +
			"print('ready', flush=True)\nend = time.time() + 20\nwhile time.time() < end:\n" +
			"    if os.fork() == 0:\n        if os.fork() == 0: time.sleep(1)\n" +
			"        time.sleep(.05)\n        os._exit(0)\n    time.sleep(.005)",
		"flees by forking": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" +
			"print('ready', flush=True)\nend = time.time() + 20\nwhile time.time() < end:\n" +
			"    if os.fork(): os._exit(0)\n    os.setsid()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s, _ := python(t, body)
			s.Grace = 300 * time.Millisecond
			var asked time.Time
			s.Stdout = writerFunc(func(b []byte) (int, error) {
				asked = time.Now()
				cancel()
				return len(b), nil
			})
			e := keeper.Run(ctx, s)
			if took := time.Since(asked); took > s.Grace+soon {
				t.Errorf("took %v", took)
			}
			if len(e.Unkillable) > 0 || e.Cause != process.Stopped && name != "flees by forking" {
				t.Errorf("got %+v", e)
			}
			noneAlive(t, s)
		})
	}
}

func TestTimeoutOfATreeThatIgnoresIt(t *testing.T) {
	t.Parallel()
	s, _ := python(t, "daemon(stubborn)\nstubborn()")
	s.Timeout, s.Grace = 5*time.Second, 300*time.Millisecond // both ignore it by then
	start := time.Now()
	e := keeper.Run(t.Context(), s)
	if took := time.Since(start); e.Cause != process.TimedOut || e.Signal != syscall.SIGKILL ||
		took > s.Timeout+s.Grace+soon {
		t.Errorf("got %v signal %v after %v", e.Cause, e.Signal, took)
	}
	noneAlive(t, s)
	gone(t, s.Dir)
}

// The last line of a script whose output goes through a process substitution comes after the
// script's end.
func TestLastWordsAreKept(t *testing.T) { t.Parallel(); alone(t, "last words") }

func init() { helpers["last words"] = lastWords }

func lastWords() int {
	k, err := process.Lingering()
	if err != nil {
		return fail(err)
	}
	out := &bytes.Buffer{}
	e := k.Run(context.Background(), process.Spec{
		Argv: []string{"bash", "-c",
			`exec > >(sleep 0.03; cat) 2>&1; echo last words`}, Env: os.Environ(), Stdout: out,
	})
	if e.Code != 0 || e.Left != 0 || out.String() != "last words\n" {
		return fail(fmt.Errorf("%+v, printed %q", e, out))
	}
	return closed(k)
}

func TestDaemonOfOneProgramSparesTheOther(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	long, out := python(t,
		"daemon(stay)\ndaemon(lambda: bare(0))\nnoted(2)\nprint('ready', flush=True)\n"+
			"sys.stdin = open('go')\nsys.stdin.read()\n"+
			"for p in open('pids').read().split(): os.kill(int(p), 0)\nprint('both alive')")
	if err := syscall.Mkfifo(long.Dir+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	var once sync.Once
	long.Stdout = writerFunc(func(b []byte) (int,
		error) {
		once.Do(func() { close(ready) })
		return out.Write(b)
	})
	done := make(chan process.Exit, 1)
	go func() { done <- keeper.Run(ctx, long) }()
	<-ready
	for range 20 {
		short, _ := python(t, "daemon(stay)\nnoted(1)")
		if e := keeper.Run(t.Context(), short); e.Left != 1 {
			t.Errorf("left %d", e.Left)
		}
		if e := keeper.Run(t.Context(), process.Spec{Argv: []string{"true"}}); e.Left != 0 ||
			e.Code != 0 {
			t.Errorf("true: %+v", e)
		}
		if t.Failed() {
			break
		}
	}
	if err := os.WriteFile(long.Dir+"/go", nil, 0); err != nil {
		t.Error(err)
	}
	if e := <-done; e.Code != 0 || e.Left != 2 {
		t.Errorf("got %+v, printed %q", e, out)
	}
	gone(t, long.Dir)
}

// A program that is listed as a child before it is known as the root of a run is no adopted
// process: a stop reaches it. Each round lists the children a little later after the start.
func TestStopReachesAProgramThatWasListedWhileItStarted(t *testing.T) {
	reason := errors.New("cancelled")
	for n := range 100 {
		ctx, cancel := context.WithCancelCause(t.Context())
		s, _ := shell(t, "echo ready; exec sleep 60")
		s.Grace = 5 * time.Second
		s.Stdout = writerFunc(func(b []byte) (int, error) {
			cancel(reason)
			return len(b), nil
		})
		listed := make(chan struct{})
		time.AfterFunc(time.Duration(n)*20*time.Microsecond, func() {
			keeper.UpdateAdopted()
			close(listed)
		})
		e := keeper.Run(ctx, s)
		<-listed
		if e.Cause != process.Stopped || e.Signal != syscall.SIGTERM {
			t.Fatalf("listed after %d us: got %v (%v) code %d signal %v", n*20, e.Cause, e.Err,
				e.Code, e.Signal)
		}
	}
}
