package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

func code(n int) *int { return &n }

func TestHowAttemptsEnd(t *testing.T) {
	t.Parallel()
	files := map[string]string{"plain.txt": "text", "script": "#!/bin/sh\nexit 9\n",
		"bad": "#!/no/such/interpreter\n"}
	for _, c := range []struct {
		name    string
		command []string
		class   task.Class
		code    *int
		reason  string // its beginning
	}{
		{"well", []string{"true"}, task.Success, code(0), ""},
		{"exit code", []string{"sh", "-c", "exit 3"}, task.Error, code(3), "exit code 3"},
		{"signal", []string{"sh", "-c", "kill -SEGV $$"}, task.Error, nil, "ended by SIGSEGV"},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, task.Error, nil, "ended by SIGKILL"},
		{"too long", []string{"sleep", "60"}, task.TimedOut, nil, "ran longer than 100ms"},
		{"missing", []string{"no-such-program"}, task.Error, code(127),
			"exit code 127: start no-such-program: there is no such program"},
		{"missing file", []string{"./none"}, task.Error, code(127),
			"exit code 127: start ./none: there is no such file"},
		{"not executable", []string{"./data"}, task.Error, code(126),
			"exit code 126: start ./data: "},
		{"no interpreter", []string{"./bad"}, task.Error, code(126),
			"exit code 126: start ./bad: the interpreter /no/such/interpreter"},
		{"a script of the project", []string{"./script"}, task.Error, code(9), "exit code 9"},
		{"empty", nil, task.Error, code(127), "exit code 127: start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, files)
			s.must(os.WriteFile(filepath.Join(s.base, "revisions/r1/data"), []byte("x"), 0o600))
			b := batch("", 0)
			b.Recipe.Command = c.command
			if c.class == task.TimedOut {
				b.Recipe.Timeout = 100 * time.Millisecond
			}
			s.send(b)
			o := s.ended(0, 1)
			if diff := cmp.Diff(c.code, o.ExitCode); o.Class != c.class ||
				!strings.HasPrefix(o.Reason, c.reason) || (o.Reason == "") != (c.reason == "") ||
				diff != "" {
				t.Errorf("%+v; want %s, %q %s", o, c.class, c.reason, diff)
			}
			if began := c.code == nil || *c.code < 126; (o.Duration > 0) != began {
				t.Errorf("it took %v", o.Duration)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		exit process.Exit
		want task.Outcome
	}{
		{process.Exit{Cause: process.OutOfMemory, Code: -1, Signal: syscall.SIGKILL,
			Duration: time.Second},
			task.Outcome{Class: task.OutOfMemory, Reason: "ended by the kernel: out of memory",
				Duration: time.Second}},
		{process.Exit{Cause: process.OutOfMemory, Code: 137},
			task.Outcome{Class: task.OutOfMemory, ExitCode: code(137),
				Reason: "ended by the kernel: out of memory"}},
		{process.Exit{Cause: process.TimedOut, Code: 0},
			task.Outcome{Class: task.TimedOut, ExitCode: code(0),
				Reason: "ran longer than 1h0m0s"}},
		{process.Exit{Cause: process.Stopped, Code: -1, Err: errors.New("x")},
			task.Outcome{Class: task.Stopped, Reason: "stopped"}},
		{process.Exit{Cause: process.BadHost, Code: -1, Err: errors.New("no processes left")},
			task.Outcome{Class: task.Loss, Reason: "infra: no processes left"}},
		{process.Exit{Cause: 99, Code: -1, Err: errors.New("x")},
			task.Outcome{Class: task.Loss, Reason: "infra: x"}},
	} {
		if diff := cmp.Diff(c.want, worker.Outcome(c.exit, time.Hour)); diff != "" {
			t.Errorf("%v: %s", c.exit, diff)
		}
	}
}

// Whatever the host lacks, before or at the start of the program, is not the user's failure.
func TestResourceExhaustionIsHostFault(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{unix.ENOSPC, unix.EMFILE, unix.EAGAIN, unix.ENOMEM} {
		for where, change := range map[string]func(*worker.Options){
			"revision": func(o *worker.Options) {
				o.Revision = func(string) (string, error) {
					return "",
						&os.PathError{Op: "open", Path: "revision", Err: errno}
				}
			},
			"start": fake(func(context.Context, process.Spec) process.Exit {
				return process.Exit{Cause: process.BadHost, Code: -1,
					Err: fmt.Errorf("start sh: %w", errno)}
			}),
		} {
			s := newSite(t, nil, change)
			if o := s.run("true"); o.Class != task.Loss ||
				!strings.HasPrefix(o.Reason, "infra: ") ||
				!strings.Contains(o.Reason, errno.Error()) {
				t.Errorf("%s, %v: %+v", where, errno, o)
			}
		}
	}
}

// It changes a limit of this process, so it is not parallel.
func TestDescriptorExhaustionLosesAttemptNotWorker(t *testing.T) {
	s := newSite(t, nil)
	s.run("true")
	release := noDescriptors(t)
	s.send(batch("true", 1))
	o := s.ended(1, 1)
	release()
	if o.Class != task.Loss || !strings.Contains(o.Reason, "too many open files") {
		t.Errorf("%+v", o)
	}
	s.send(batch("true", 2))
	if o := s.ended(2, 1); o.Class != task.Success {
		t.Errorf("afterwards: %+v", o)
	}
}

// noDescriptors lets this process open nothing more until release.
func noDescriptors(t *testing.T) (release func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	var held []*os.File
	free := func() {
		for _, f := range held {
			f.Close()
		}
	}
	limit := before
	limit.Cur = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			break
		}
		held = append(held, f)
	}
	return func() {
		free()
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
}

func TestEscapedProcessEndsWithItsAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch(`trap '' TERM
		(setsid sh -c 'trap "" TERM; echo $$ > escaped; exec sleep 60' &) ; sleep 60`, 0)
	b.Recipe.Grace = 200 * time.Millisecond
	s.send(b)
	s.appears(s.path(0, "escaped"))
	poll(t, "the pid", func() bool { return strings.HasSuffix(s.file(0, "escaped"), "\n") })
	begin := time.Now()
	s.tell(task.Control{Kind: task.StopControl, Sweep: "train-1", Index: 0, Attempt: 1})
	if o := s.ended(0, 1); o.Class != task.Stopped || o.Reason != "stopped" {
		t.Errorf("%+v", o)
	}
	if took := time.Since(begin); took > b.Recipe.Grace+limit/2 {
		t.Errorf("gone after %v", took)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(s.file(0, "escaped"))); err == nil {
		t.Error("it is alive")
	}
}
