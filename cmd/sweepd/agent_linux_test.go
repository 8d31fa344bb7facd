package main_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"mlframework/infra/agent"
)

// TestAgent brings the program to a home folder and starts it there, as infrainit does.
func TestAgent(t *testing.T) {
	t.Parallel()
	home, root := t.TempDir(), t.TempDir()
	p, err := agent.ReadProgram(runtime.GOARCH, program)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	pipe := func(ctx context.Context, argv ...string) (net.Conn, error) {
		shell := exec.Command(argv[0], argv[1:]...)
		shell.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=")
		here, there := net.Pipe()
		in, err := shell.StdinPipe()
		if err != nil {
			return nil, err
		}
		shell.Stdout = there
		if err := shell.Start(); err != nil {
			return nil, err
		}
		go func() {
			_, _ = io.Copy(in, there)
			in.Close()
		}()
		go func() { ended <- shell.Wait() }()
		return here, nil
	}
	c, err := agent.Start(t.Context(), "gpu1", pipe, []agent.Program{p}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := c.Lock(t.Context(), agent.LockRequest{File: filepath.Join(root, ".c.lock"),
		Holder: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "bin", p.Hash(), "sweepd")
	if err := c.CopyProgram(t.Context(), agent.ProgramCopy{Root: root, To: to}); err != nil {
		t.Error(err)
	}
	if copied, err := agent.ReadProgram("", to); err != nil || copied.Sum != p.Sum {
		t.Errorf("%+v, %v", copied, err)
	}
	if err := c.RemoveProgram(t.Context()); err != nil {
		t.Error(err)
	}
	if items, err := os.ReadDir(home); err != nil || len(items) > 0 {
		t.Errorf("%v, %v", items, err)
	}
	lock.Close()
	c.Close()
	if err := <-ended; err != nil {
		t.Errorf("it did not end well with its input: %v", err)
	}
}
