package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// local is this machine.
type local struct {
	user  string
	alive context.Context
	end   context.CancelCauseFunc
}

func newLocal(user string) *local {
	l := &local{user: user}
	l.alive, l.end = context.WithCancelCause(context.Background())
	return l
}

func (l *local) Name() string { return Local }
func (l *local) Facts() Facts {
	return Facts{User: l.user, HostName: "localhost", Address: "127.0.0.1"}
}
func (l *local) Done() <-chan struct{} { return l.alive.Done() }

func (l *local) Close() error {
	l.end(&Error{Host: Local, Op: "use " + Local, Kind: Closed, Cause: "it was closed",
		Err: net.ErrClosed})
	return nil
}

func (l *local) Err() error { return context.Cause(l.alive) }

func (l *local) Run(ctx context.Context, c Command) error { return run(ctx, l.alive, l, c) }

func (l *local) Pipe(ctx context.Context, c Command) (net.Conn, error) {
	return pipe(ctx, l.alive, l, c)
}

// process is a command on this machine.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	gone chan struct{}
}

func (l *local) start(_ context.Context, c Command, stdout, stderr io.Writer) (running, error) {
	script, err := c.script()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command("/bin/sh", "-c", script), gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	// so that all of it can be ended, and Ctrl-C is for us
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, &Error{Host: Local, Op: "run on " + Local, Kind: NoSession,
			Cause: clip(plain(err)), Err: err}
	}
	return p, nil
}

func (p *process) stdin() io.WriteCloser { return p.in }

func (p *process) wait() error {
	err := p.cmd.Wait()
	close(p.gone)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return &ExitError{Signal: signalName(s.Signal())}
	}
	return &ExitError{Code: exit.ExitCode()}
}

// terminate ends the process group: politely, and a moment later for good.
func (p *process) terminate() {
	_ = p.in.Close()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	go func() {
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-p.gone: // its number may be another's by now
		case <-late.C:
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
}

// signalName is a signal as ssh calls it (RFC 4254, 6.10).
func signalName(s syscall.Signal) string {
	for name, number := range map[ssh.Signal]syscall.Signal{
		ssh.SIGABRT: syscall.SIGABRT, ssh.SIGALRM: syscall.SIGALRM, ssh.SIGFPE: syscall.SIGFPE,
		ssh.SIGHUP: syscall.SIGHUP,
		ssh.SIGILL: syscall.SIGILL, ssh.SIGINT: syscall.SIGINT, ssh.SIGKILL: syscall.SIGKILL,
		ssh.SIGPIPE: syscall.SIGPIPE,
		ssh.SIGQUIT: syscall.SIGQUIT, ssh.SIGSEGV: syscall.SIGSEGV, ssh.SIGTERM: syscall.SIGTERM,
	} {
		if number == s {
			return string(name)
		}
	}
	return strings.ToUpper(s.String())
}
