package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	ossignal "os/signal"
	"strings"
	"syscall"
	"testing"

	"mlframework/cmd/internal/cli"
)

// TestMain lets the test binary be the program that is interrupted.
func TestMain(m *testing.M) {
	if os.Getenv("INTERRUPTED") == "" {
		if ossignal.Ignored(syscall.SIGHUP) { // under nohup: programs that tests start would ignore it, too
			ossignal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		}
		os.Exit(m.Run())
	}
	ctx, stop := cli.Interrupts(context.Background(), func() { os.Exit(cli.Interrupted) })
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println(errors.Is(context.Cause(ctx), cli.ErrInterrupted))
	select {}
}

func TestInterrupts(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "INTERRUPTED=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			expect(t, lines, "ready")
			signal(t, cmd, s)
			expect(t, lines, "true")
			// A signal that comes at once is the same one, sent to program and group: another kind
			// is the second.
			second := syscall.SIGINT
			if s == second {
				second = syscall.SIGTERM
			}
			signal(t, cmd, second)
			if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok ||
				exit.ExitCode() != cli.Interrupted {
				t.Errorf("ended with %v", exit)
			}
		})
	}
}

func TestInterruptsEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := cli.Interrupts(t.Context(), func() { t.Error("left") })
	stop()
	<-ctx.Done()
	if cause := context.Cause(ctx); errors.Is(cause, cli.ErrInterrupted) {
		t.Errorf("cause is %v", cause)
	}
}

func expect(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || strings.TrimSpace(lines.Text()) != want {
		t.Fatalf("got %q, want %q", lines.Text(), want)
	}
}

func signal(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
