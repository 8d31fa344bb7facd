package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	if e, ok := errors.AsType[*agent.Error](err); !ok || !strings.Contains(e.Text, "no-such-program") {
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
