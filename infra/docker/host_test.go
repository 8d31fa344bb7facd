package docker_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// local is this machine as a Host.
type local struct {
	undialled error    // what every Dial gives: an sshd that forbids forwarding
	uid       uint32   // as whom commands run; 0: as the test
	env       []string // more for commands
	path      string   // the only folder in which commands are found; "": as usual
}

func (l local) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.undialled != nil {
		return nil, l.undialled
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func (l local) Pipe(ctx context.Context, argv ...string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	program := argv[0]
	if l.path != "" {
		program = filepath.Join(l.path, program)
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), l.env...)
	if l.path != "" {
		cmd.Env = append(cmd.Env, "PATH="+l.path)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if l.uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: l.uid, Gid: l.uid}
		cmd.Env = append(cmd.Env, "HOME=/")
	}
	in, toIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromOut, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = in, out
	err = cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		toIn.Close()
		fromOut.Close()
		return nil, err
	}
	c := &command{cmd: cmd, in: toIn, out: fromOut}
	c.wait = sync.OnceValue(func() error {
		defer c.ended.Store(true)
		return cmd.Wait()
	})
	return c, nil
}

// command is a running program as a connection.
type command struct {
	cmd     *exec.Cmd
	in, out *os.File
	wait    func() error
	ended   atomic.Bool
}

func (c *command) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := c.wait(); failed != nil {
			return n, failed
		}
	}
	return n, err
}

func (c *command) Close() error {
	if !c.ended.Load() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // its own group
	}
	_ = c.wait()
	return errors.Join(c.in.Close(), c.out.Close())
}

func (c *command) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *command) CloseWrite() error           { return c.in.Close() }
func (c *command) LocalAddr() net.Addr         { return &net.UnixAddr{} }
func (c *command) RemoteAddr() net.Addr        { return &net.UnixAddr{} }
func (c *command) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}
func (c *command) SetReadDeadline(t time.Time) error  { return c.out.SetReadDeadline(t) }
func (c *command) SetWriteDeadline(t time.Time) error { return c.in.SetWriteDeadline(t) }
