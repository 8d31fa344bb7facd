package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

var marks atomic.Int64

// spec is a program with an environment of its own mark, and a place for its output.
func spec(t *testing.T, argv ...string) (process.Spec, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	mark := "TASK_ID=test-" + strconv.Itoa(os.Getpid()) + "/" + strconv.FormatInt(marks.Add(1), 10)
	return process.Spec{
		Argv: argv, Env: []string{"PATH=" + os.Getenv("PATH"), mark, "ATTEMPT=1"}, Dir: t.TempDir(),
		Stdout: out, Stderr: out, Marks: []string{mark, "ATTEMPT=1"}, Grace: 2 * time.Second,
	}, out
}

func shell(t *testing.T, script string) (process.Spec, *bytes.Buffer) {
	t.Helper()
	return spec(t, "sh", "-c", script)
}

// noneAlive fails when a process with the marks of s lives, and forgets it.
func noneAlive(t *testing.T, s process.Spec) {
	t.Helper()
	carries := func(env []string) bool { return slices.Contains(env, s.Marks[0]) }
	if left := process.Leftovers(carries); len(left) > 0 {
		t.Errorf("alive after the end: %v", left)
		_, _ = process.KillLeftovers(t.Context(), carries)
	}
}

func write(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestHowProgramsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		argv   []string
		cause  process.Cause
		code   int
		signal syscall.Signal
		says   string // part of Err
	}{
		{name: "success", argv: []string{"true"}},
		{name: "exit code", argv: []string{"sh", "-c", "exit 3"}, code: 3},
		{name: "exit code 255", argv: []string{"sh", "-c", "exit 255"}, code: 255},
		{name: "signal", argv: []string{"sh", "-c", "kill -SEGV $$"}, cause: process.Signalled,
			code: -1, signal: syscall.SIGSEGV},
		{name: "kill -9", argv: []string{"sh", "-c", "kill -9 $$"}, cause: process.Signalled,
			code: -1, signal: syscall.SIGKILL},
		{name: "in the directory", argv: []string{"./good"}, code: 7},
		{name: "a name in the directory only", argv: []string{"good"}, cause: process.BadProgram,
			code: 127, says: "write ./good"},
		{name: "no command", argv: nil, cause: process.BadProgram, code: 127, says: "empty"},
		{name: "missing in PATH", argv: []string{"no-such-program"}, cause: process.BadProgram,
			code: 127, says: "no such program in PATH"},
		{name: "missing file", argv: []string{"./none"}, cause: process.BadProgram, code: 127,
			says: "no such file"},
		{name: "not executable", argv: []string{"./plain"}, cause: process.BadProgram, code: 126,
			says: "not executable"},
		{name: "a directory", argv: []string{"./folder"}, cause: process.BadProgram, code: 126,
			says: "is a directory"},
		{name: "wrong format", argv: []string{"./text"}, cause: process.BadProgram, code: 126,
			says: "no #! line"},
		{name: "missing interpreter", argv: []string{"./lost"}, cause: process.BadProgram,
			code: 126, says: "interpreter /no/such/python, named in the first line"},
		{name: "Windows line ends", argv: []string{"./windows"}, cause: process.BadProgram,
			code: 126, says: "carriage return"},
		{name: "too long", argv: []string{"true", strings.Repeat("x", 1<<20)},
			cause: process.BadProgram, code: 126, says: "too long"},
		{name: "zero byte", argv: []string{"true", "a\x00b"}, cause: process.BadProgram, code: 126,
			says: "cannot be executed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := spec(t, c.argv...)
			write(t, s.Dir, "good", "#!/bin/sh\nexit 7\n", 0o755)
			write(t, s.Dir, "plain", "#!/bin/sh\n", 0o644)
			write(t, s.Dir, "text", "hello\n", 0o755)
			write(t, s.Dir, "lost", "#!/no/such/python -u\n", 0o755)
			write(t, s.Dir, "windows", "#!/bin/sh\r\n", 0o755)
			if err := os.Mkdir(s.Dir+"/folder", 0o755); err != nil {
				t.Fatal(err)
			}
			e := keeper.Run(t.Context(), s)
			if e.Cause != c.cause || e.Code != c.code || e.Signal != c.signal || e.Left != 0 {
				t.Errorf("got %v code %d signal %v left %d, err %v", e.Cause, e.Code, e.Signal,
					e.Left, e.Err)
			}
			if c.says == "" && e.Err != nil || c.says != "" &&
				(e.Err == nil || !strings.Contains(e.Err.Error(), c.says)) {
				t.Errorf("says %v, want %q", e.Err, c.says)
			}
			if began := c.cause != process.BadProgram; began != !e.Started.IsZero() ||
				began != (e.Duration > 0) {
				t.Errorf("started %v, duration %v", e.Started, e.Duration)
			}
		})
	}
}

func TestMissingDirectoryIsTheHosts(t *testing.T) {
	t.Parallel()
	s, _ := spec(t, "true")
	s.Dir += "/none"
	if e := keeper.Run(t.Context(), s); e.Cause != process.BadHost || e.Code != -1 ||
		!errors.Is(e.Err, os.ErrNotExist) {
		t.Errorf("got %v code %d: %v", e.Cause, e.Code, e.Err)
	}
}

func TestPathOfTheProgramCounts(t *testing.T) {
	t.Parallel()
	s, out := spec(t, "tool")
	if err := os.MkdirAll(s.Dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "bin/tool",
		"#!/bin/sh\necho \"$PWD\" \"$0\"; cat; ps -o sid= -o pgid= -o pid= -p $$\n", 0o755)
	s.Env[0] = "PATH=bin:/usr/bin:/bin"
	if e := keeper.Run(t.Context(), s); e.Code != 0 {
		t.Fatalf("%v: %v", e.Cause, e.Err)
	}
	f := strings.Fields(out.String())
	if len(f) != 5 || f[0] != s.Dir || f[1] != "bin/tool" || f[2] != f[4] || f[3] != f[4] {
		t.Errorf("printed %q: want directory, bin/tool, nothing from stdin, "+
			"a session and group of its own", out)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s, out := shell(t,
		`trap 'echo cleaning; exit 4' TERM; echo ready; while :; do sleep 0.05; done`)
	s.Timeout = 5 * time.Second // the shell has set its trap by then
	e := keeper.Run(t.Context(), s)
	if e.Cause != process.TimedOut || e.Code != 4 || e.Err != nil || e.Duration < s.Timeout ||
		e.Duration > s.Timeout+soon {
		t.Errorf("got %v code %d after %v: %v", e.Cause, e.Code, e.Duration, e.Err)
	}
	if !strings.HasPrefix(out.String(), "ready\n") ||
		!strings.HasSuffix(out.String(), "cleaning\n") {
		t.Errorf("printed %q", out)
	}
	noneAlive(t, s)
}

func TestStop(t *testing.T) {
	t.Parallel()
	reason := errors.New("cancelled by anna")
	for _, c := range []struct {
		name   string
		script string
		cause  error
		grace  time.Duration
		code   int
		signal syscall.Signal
		least  time.Duration
	}{
		{"asked", `echo ready; exec sleep 60`, reason, time.Minute, -1, syscall.SIGTERM, 0},
		{"exits by itself", `trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done`, reason,
			time.Minute, 0, 0, 0},
		{"stopped by SIGSTOP", `echo ready; kill -STOP $$; sleep 60`, reason, time.Minute, -1,
			syscall.SIGTERM, 0},
		{"ignores SIGTERM", `trap '' TERM; echo ready; sleep 60; sleep 60`, reason,
			500 * time.Millisecond, -1, syscall.SIGKILL, 500 * time.Millisecond},
		{"at once", `trap '' TERM; echo ready; sleep 60; sleep 60`, process.ErrKill, time.Hour, -1,
			syscall.SIGKILL, 0},
		{"no grace", `trap 'exit 0' TERM; echo ready; sleep 60 & wait`, reason, 0, -1,
			syscall.SIGKILL, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			s, _ := shell(t, c.script)
			var asked time.Time
			s.Stdout = writerFunc(func(b []byte) (int, error) {
				asked = time.Now()
				cancel(c.cause)
				return len(b), nil
			})
			s.Grace = c.grace
			e := keeper.Run(ctx, s)
			took := time.Since(asked)
			if e.Cause != process.Stopped || e.Err != c.cause || e.Code != c.code ||
				e.Signal != c.signal {
				t.Errorf("got %v (%v) code %d signal %v", e.Cause, e.Err, e.Code, e.Signal)
			}
			if took < c.least || took > c.least+soon {
				t.Errorf("took %v", took)
			}
			noneAlive(t, s)
		})
	}
}

func TestStoppedBeforeItBegan(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(process.ErrKill)
	s, _ := spec(t, "true")
	if e := keeper.Run(ctx, s); e.Cause != process.Stopped || e.Err != process.ErrKill ||
		!e.Started.IsZero() {
		t.Errorf("got %+v", e)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
