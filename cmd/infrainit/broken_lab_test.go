package main_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// step is a line that tells that a step has ended.
var step = regexp.MustCompile(`^host\d +\d+\.\ds  `)

// broken runs infrainit and sends it a signal after so many steps. It gives how it ended, -1 by the
// signal, and what it said. A call that ends before is not signalled.
func (p *laptop) broken(signal syscall.Signal, steps int, args ...string) (code int, said string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), commandTime)
	defer stop()
	c := p.command(ctx, append([]string{"infrainit"}, args...)...)
	out, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if step.MatchString(lines.Text()) {
			if steps--; steps == 0 {
				_ = c.Process.Signal(signal)
			}
		}
	}
	if exit := (*exec.ExitError)(nil); !errors.As(c.Wait(), &exit) && c.ProcessState == nil {
		p.t.Fatal("infrainit was not waited for")
	}
	return c.ProcessState.ExitCode(), said
}

// TestBroken interrupts bring-ups at many steps. Running infrainit again completes each of them, and
// infra-clean removes everything.
func TestBroken(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	options := append([]string{"-a", p.hosts("anna"), "-d", "digits", "--name", "c", "-m", "1",
		"-w", "1,2"}, p.images()...)
	after := []int{1, 4, 6}
	if long() {
		after = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
			23, 24}
	}
	t.Run("by Ctrl-C", func(t *testing.T) {
		for _, n := range []int{2, 14} {
			code, said := p.broken(syscall.SIGINT, n, options...)
			if code != 130 || !strings.Contains(said, "rolling back the changes") ||
				!strings.HasSuffix(said, "infrainit: interrupted\n") {
				t.Errorf("after %d steps it ended with %d:\n%s", n, code, said)
			}
			clean(t, p.lab)
		}
	})
	t.Run("by Ctrl-C, to be kept", func(t *testing.T) {
		if code, said := p.broken(syscall.SIGINT, 14, append(options, "--keep")...); code != 130 ||
			strings.Contains(said, "removed") {
			t.Errorf("it ended with %d:\n%s", code, said)
		}
		if remains(t, p.lab.Hosts[0]) == "" {
			t.Error("nothing was kept")
		}
		p.must("./infra-clean", "--volumes", "--files", "--yes")
		clean(t, p.lab)
	})
	t.Run("killed", func(t *testing.T) {
		for _, n := range after {
			if long() {
				p.must("./infra-clean", "--volumes", "--files", "--yes")
			}
			if code, said := p.broken(syscall.SIGKILL, n, options...); code == 1 {
				t.Errorf("after the call before was killed:\n%s", said)
			}
			if long() {
				p.up("-f")
			}
		}
		p.up("-f")
		if r := p.up("-f"); !strings.Contains(r.out, "nothing to change") {
			t.Errorf("it does not settle:\n%s%s", r.err, r.out)
		}
	})
	if _, err := os.Stat(p.work + "/infra-clean"); err != nil {
		t.Fatal(err)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}
