package docker_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mlframework/infra/docker"
)

// engineSocket is where the engine of this machine listens.
const engineSocket = "/var/run/docker.sock"

// local is this machine.
type local struct {
	socket string   // of the engine; "": the usual one
	env    []string // more for commands
	path   string   // the only folder in which commands are found; "": as usual
}

// host is this machine as the package wants one.
func (l local) host(name string) docker.Host {
	return docker.Host{Name: name, Dial: l.dial, Output: l.output}
}

func (l local) dial(ctx context.Context) (net.Conn, error) {
	socket := l.socket
	if socket == "" {
		socket = engineSocket
	}
	return new(net.Dialer).DialContext(ctx, "unix", socket)
}

// output runs a command to its end.
func (l local) output(ctx context.Context, argv ...string) (io.ReadCloser, error) {
	program := argv[0]
	if l.path != "" {
		program = filepath.Join(l.path, program)
	}
	c := exec.CommandContext(ctx, program, argv[1:]...)
	c.Dir, c.Env = "/", append(os.Environ(), l.env...)
	if l.path != "" {
		c.Env = append(c.Env, "PATH="+l.path)
	}
	out, err := c.Output()
	return io.NopCloser(bytes.NewReader(out)), err
}

// commands makes a folder in which only these commands are found.
func commands(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		at, err := exec.LookPath(n)
		if err != nil {
			absent(t, n, err)
		}
		if err := os.Symlink(at, filepath.Join(dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
