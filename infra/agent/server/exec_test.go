package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
)

func TestExec(t *testing.T) {
	t.Parallel()
	c := start(t, server.Options{})
	for name, q := range map[string]struct {
		argv []string
		out  string
		end  *agent.Exit // nil: it ends well
	}{
		"words as they are": {[]string{"printf", "[%s]", "it's", "$HOME `x`", ""},
			"[it's][$HOME `x`][]", nil},
		"much": {[]string{"head", "-c", "1000000", "/dev/zero"}, strings.Repeat("\x00", 1e6), nil},
		"fails": {[]string{"sh", "-c", "echo some; echo why >&2; exit 3"}, "some\n",
			&agent.Exit{Code: 3, Stderr: []byte("why\n")}},
		"a signal": {[]string{"sh", "-c", "kill -KILL $$"}, "",
			&agent.Exit{Code: -1, Signal: "killed"}},
		"SIGPIPE is not ignored": {[]string{"sh", "-c", "trap; yes | head -1"}, "y\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := c.Output(t.Context(), q.argv...)
			must(t, err)
			defer out.Close()
			all, err := io.ReadAll(out)
			e, failed := errors.AsType[*agent.ExitError](err)
			if string(all) != q.out || failed != (q.end != nil) || !failed && err != nil {
				t.Errorf("%.100q, %v", all, err)
			}
			if failed && q.end != nil && (e.Code != q.end.Code || e.Signal != q.end.Signal ||
				string(e.Stderr) != string(q.end.Stderr) || e.Host != "gpu1") {
				t.Errorf("%+v", e)
			}
		})
	}
	_, err := c.Output(t.Context(), "no-such-program")
	if e, ok := errors.AsType[*agent.Error](err); !ok || !strings.Contains(e.Text,
		"no-such-program") {
		t.Errorf("%v", err)
	}
	out, err := c.Output(t.Context(), "sh", "-c", "seq 100000 >&2; false")
	if err == nil {
		_, err = io.ReadAll(out)
		out.Close()
	}
	if e, ok := errors.AsType[*agent.ExitError](err); !ok || len(e.Stderr) != agent.MaxStderr ||
		!strings.HasSuffix(string(e.Stderr), "100000\n") {
		t.Errorf("%.100v", err)
	}
}

// A program ends with who asked for it, with all that it started.
func TestExecEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	for name, end := range map[string]func(io.Closer, context.CancelCauseFunc){
		"closed":    func(out io.Closer, _ context.CancelCauseFunc) { out.Close() },
		"cancelled": func(_ io.Closer, cancel context.CancelCauseFunc) { cancel(why) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, wait := run(t, server.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			out, err := c.Output(ctx, "sh", "-c", "echo $$; sleep 120 & wait")
			must(t, err)
			defer out.Close()
			from := bufio.NewReader(out)
			line, err := from.ReadString('\n')
			must(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			must(t, err)
			end(out, cancel)
			if _, err := from.ReadByte(); name == "cancelled" && !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
			wait() // for its requests
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("it is there: %v", err)
			}
		})
	}
}

// fifo is a named pipe, whose other end programs may hold. Reading it is bounded.
func fifo(t *testing.T) (path string, end *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	end, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { end.Close() })
	must(t, end.SetDeadline(time.Now().Add(time.Minute)))
	return path, end
}

// A program that has ended is not there any more to write again what it wrote: however late the
// client reads it, it has all of it.
func TestExecOfASlowClient(t *testing.T) {
	t.Parallel()
	c := start(t, server.Options{})
	path, late := fifo(t)
	// More than flow control lets through, by what the pipe to the agent holds. Behind the program
	// something else measures the time.
	const size = 1<<20 + 96<<10
	out, err := c.Output(t.Context(), "sh", "-c", fmt.Sprintf(
		"(sleep 4; echo >%s) </dev/null >/dev/null 2>&1 & exec head -c %d /dev/zero", path, size))
	must(t, err)
	defer out.Close()
	_, err = late.Read(make([]byte, 1))
	must(t, err)
	if n, err := io.Copy(io.Discard, out); n != size || err != nil {
		t.Errorf("%d of %d bytes, %v", n, size, err)
	}
}

// What a program leaves behind may keep its output open, and write: that is waited for, but not
// for ever. It is left alone, as by ssh.
func TestExecLeavesDaemons(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]struct{ script, want string }{
		"silent":        {"echo some; exec sleep 120 &", "some\n"},
		"still writing": {"echo some; { sleep 0.1; echo more; exec sleep 120; } &", "some\nmore\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, alive := fifo(t)
			out, err := start(t, server.Options{}).Output(t.Context(), "sh", "-c",
				q.script+" echo $! >"+path)
			must(t, err)
			defer out.Close()
			all, err := io.ReadAll(out)
			if string(all) != q.want || err != nil {
				t.Errorf("%q, %v", all, err)
			}
			line, err := bufio.NewReader(alive).ReadString('\n')
			must(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			must(t, err)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
}

// What does not end when it is told to is killed, also where the program itself has ended.
func TestExecKillsAll(t *testing.T) {
	t.Parallel()
	c, wait := run(t, server.Options{})
	path := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	out, err := c.Output(t.Context(), "sh", "-c",
		"(trap '' TERM; echo here; exec 3>"+path+" sleep 120) & wait")
	must(t, err)
	defer out.Close()
	_, err = io.ReadFull(out, make([]byte, len("here\n")))
	must(t, err)
	held, err := os.OpenFile(path, os.O_RDONLY, 0)
	must(t, err)
	defer held.Close()
	must(t, held.SetDeadline(time.Now().Add(time.Minute)))
	out.Close()
	wait()
	if _, err := held.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("it goes on: %v", err)
	}
}
