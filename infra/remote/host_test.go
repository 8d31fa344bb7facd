package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/remote"
	"mlframework/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// faulty wants an *Error of a kind, with texts in it.
func faulty(t *testing.T, err error, kind remote.Kind, texts ...string) *remote.Error {
	t.Helper()
	e, ok := errors.AsType[*remote.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("got %#v: %v\nwant an error of kind %s", err, err, kind)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
	return e
}

// both runs a test with a host over ssh, and with this machine.
func both(t *testing.T, test func(t *testing.T, h remote.Host)) {
	t.Parallel()
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		h, _, _ := connected(t)
		test(t, h)
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		test(t, connect(t, newHome(t).options(), remote.Target{Name: remote.Local}))
	})
}

func TestRun(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		words := []string{"printf", "[%s]", "it's", `a\b`, "!!", "$HOME `x` \"", "", "ü\n\t*", "-n"}
		big := strings.Repeat("x", 300_000)
		for _, c := range []struct {
			name    string
			command remote.Command
			stdout  string
		}{
			{"words as they are", remote.Command{Argv: words}, "[" + strings.Join(words[2:], "][") +
				"]"},
			{"a script of lines", remote.Command{Script: "a='1 2'\nfor i in $a; do\n\techo " +
				"\"$i!\"\ndone"}, "1!\n2!\n"},
			{"no input is an empty one", remote.Command{Argv: []string{"cat"}}, ""},
			{"input", remote.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(big)}, big},
			{"input that nobody reads", remote.Command{Argv: []string{"echo", "x"},
				Stdin: strings.NewReader(big + big)}, "x\n"},
		} {
			t.Run(c.name, func(t *testing.T) {
				var stdout bytes.Buffer // on stderr, a login shell may print anything
				c.command.Stdout = &stdout
				if err := h.Run(t.Context(), c.command); err != nil ||
					stdout.String() != c.stdout {
					t.Errorf("%v, %.200q, want %.200q", err, &stdout, c.stdout)
				}
			})
		}
	})
}

func TestRunTellsHowACommandFailed(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		for _, c := range []struct {
			script string
			want   remote.ExitError
		}{
			{"echo no >&2; exit 3", remote.ExitError{Code: 3, Stderr: "no\n"}},
			{"kill -KILL $$", remote.ExitError{Signal: "KILL"}},
			{"i=0; while [ $i -lt 3000 ]; do echo 12345 >&2; i=$((i+1)); done; false",
				remote.ExitError{Code: 1}},
		} {
			err := h.Run(t.Context(), remote.Command{Script: c.script})
			e, ok := errors.AsType[*remote.ExitError](err)
			if !ok || e.Code != c.want.Code || e.Signal != c.want.Signal || e.Host != h.Name() ||
				len(err.Error()) > 5<<10 {
				t.Errorf("%s: %#v", c.script, err)
			}
			if ok && !strings.HasSuffix(e.Stderr, c.want.Stderr) {
				t.Errorf("%s: stderr %q", c.script, e.Stderr)
			}
		}
		err := h.Run(t.Context(), remote.Command{Argv: []string{"no-such-program"}})
		if e, ok := errors.AsType[*remote.ExitError](err); !ok || e.Code != 127 ||
			!strings.Contains(err.Error(), "no-such-program") {
			t.Errorf("a program that is not there: %v", err)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		ctx, stop := context.WithCancelCause(t.Context())
		var out signals
		done := make(chan error)
		input, never := io.Pipe() // input that never ends
		defer never.Close()
		go func() {
			done <- h.Run(ctx, remote.Command{Script: "echo $$; sleep 120 & wait; echo late",
				Stdin: input, Stdout: &out})
		}()
		pid, err := strconv.Atoi(strings.TrimSpace(out.wait(t, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		stop(why)
		if err := <-done; err != why {
			t.Errorf("got %v, want the cause of the context", err)
		}
		eventually(t, "the process group is gone", func() bool {
			return syscall.Kill(-pid, 0) == syscall.ESRCH
		})
	})
}

func TestRunFailsWithItsInputAndOutput(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		broken := errors.New("broken")
		r, w := io.Pipe()
		w.CloseWithError(broken)
		file := filepath.Join(t.TempDir(), "ended")
		err := h.Run(t.Context(), remote.Command{Script: "cat && touch " + remote.Quote(file),
			Stdin: r})
		if !errors.Is(err, broken) {
			t.Errorf("input that breaks: %v", err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the command took broken input for all of it")
		}
		r, w = io.Pipe()
		r.CloseWithError(broken)
		if err := h.Run(t.Context(), remote.Command{Argv: []string{"yes"}, Stdout: w}); !errors.Is(
			err, broken) {
			t.Errorf("output that nobody takes: %v", err)
		}
	})
}

func TestRunRefusesWhatIsNoCommand(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		for _, c := range []remote.Command{{}, {Argv: []string{"x"}, Script: "x"},
			{Argv: []string{"a\x00b"}}} {
			if err := h.Run(t.Context(), c); err == nil {
				t.Errorf("%v ran", c)
			}
		}
		if _, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"},
			Stdin: strings.NewReader("")}); err == nil {
			t.Error("a pipe with an input of its own")
		}
	})
}

func TestPipe(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		conn, err := h.Pipe(t.Context(), remote.Command{Script: "cat; echo end"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline that has passed: %v", err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		talk(t, conn, "hello\n", "hello\nend\n")

		failing, err := h.Pipe(t.Context(),
			remote.Command{Script: "echo some; echo why >&2; exit 4"})
		if err != nil {
			t.Fatal(err)
		}
		defer failing.Close()
		got, err := io.ReadAll(failing)
		if e, ok := errors.AsType[*remote.ExitError](err); !ok || e.Code != 4 ||
			!strings.HasSuffix(e.Stderr, "why\n") || string(got) != "some\n" {
			t.Errorf("%q, %v", got, err)
		}
		_, err = failing.Write([]byte("x"))
		if e, ok := errors.AsType[*remote.ExitError](err); !ok || e.Code != 4 {
			t.Errorf("written to a command that has ended: %v", err)
		}
	})
}

func TestPipeClosedEndsItsCommand(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		conn, err := h.Pipe(t.Context(), remote.Command{Script: "echo $$; exec sleep 120"})
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 20)
		n, err := conn.Read(b)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
		if err != nil || pid == 0 {
			t.Fatal(pid, err)
		}
		conn.Close()
		if _, err := conn.Read(b); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
		eventually(t, "the command is gone", func() bool {
			return syscall.Kill(pid, 0) == syscall.ESRCH
		})
	})
}

func TestClose(t *testing.T) {
	both(t, func(t *testing.T, h remote.Host) {
		if h.Err() != nil {
			t.Error(h.Err())
		}
		ended := make(chan error)
		var out signals
		go func() {
			ended <- h.Run(t.Context(), remote.Command{Script: "echo x; sleep 120", Stdout: &out})
		}()
		out.wait(t, "x")
		h.Close()
		h.Close()
		<-h.Done()
		faulty(t, h.Err(), remote.Closed)
		faulty(t, <-ended, remote.Closed)
		faulty(t, h.Run(t.Context(), remote.Command{Argv: []string{"true"}}), remote.Closed)
		_, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"true"}})
		faulty(t, err, remote.Closed)
	})
}

// signals is output that can be waited for.
type signals struct {
	mu   sync.Mutex
	text string
}

func (s *signals) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(p)
	return len(p), nil
}

func (s *signals) wait(t *testing.T, text string) (all string) {
	t.Helper()
	eventually(t, "output has "+strconv.Quote(text), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		all = s.text
		return strings.Contains(all, text)
	})
	return all
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
