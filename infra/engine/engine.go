// Package engine connects to the Docker Engine of the machine that it runs on.
//
// The agent and package infra may import it. It imports nothing of this project, and knows of
// Docker's API only how to find out whether somebody answers: package docker speaks it.
//
// In this order, until one answers:
//
//	the Unix socket
//	docker system dial-stdio     where there is no such socket, and the user's docker context names
//	                             another
//	sudo -n ... dial-stdio       where the user is not in the group docker
package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Socket is where a Docker Engine listens unless it was told otherwise.
const Socket = "/var/run/docker.sock"

// answerTime bounds one way of reaching the engine: dial-stdio may take a second or two.
const answerTime = 20 * time.Second

// Dialer opens connections to the engine. The zero value is ready for use, also by several
// goroutines at once.
type Dialer struct {
	Socket string // "": the usual one

	known atomic.Int32 // index of the way that answered last
}

type dial func(context.Context) (net.Conn, error)

// Dial opens a connection, which has a method CloseWrite, to an engine that answers. ctx is about
// the opening only. Where no way leads to an engine the error is *Missing: what there is on this
// machine, and what helps. It is the cause of ctx where that has ended.
func (d *Dialer) Dial(ctx context.Context) (net.Conn, error) {
	ways, known := d.ways(), int(d.known.Load())
	for i := range ways {
		i = (known + i) % len(ways)
		if conn, err := answering(ctx, ways[i]); err == nil {
			d.known.Store(int32(i))
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, d.diagnose()
}

func (d *Dialer) socket() string {
	if d.Socket == "" {
		return Socket
	}
	return d.Socket
}

// ways are how the engine may be reached, the quickest first.
func (d *Dialer) ways() []dial {
	command := func(argv ...string) dial {
		return func(context.Context) (net.Conn, error) { return start(argv...) }
	}
	return []dial{
		func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.socket())
		},
		command("docker", "system", "dial-stdio"),
		command("sudo", "-n", "docker", "system", "dial-stdio"),
	}
}

// answering opens a connection and asks the engine at its end for a sign of life. That a command
// has started does not mean that there is one.
func answering(ctx context.Context, way dial) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := way(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = ping(conn)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// ping makes a request, after which the connection is as good as new.
func ping(conn net.Conn) error {
	if _, err := io.WriteString(conn, "GET /_ping HTTP/1.1\r\nHost: docker\r\n\r\n"); err != nil {
		return err
	}
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxPing))
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK, answer.Close, n == maxPing, from.Buffered() > 0:
		return errors.New("not the answer of an engine")
	}
	return nil
}

// maxPing bounds the answer to a ping, in bytes.
const maxPing = 1 << 10

// diagnose returns why there is no engine, by what this machine has.
func (d *Dialer) diagnose() error {
	has := func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	}
	at := d.socket()
	info, err := os.Stat(at)
	there := err == nil && info.Mode().Type() == os.ModeSocket
	const write = 2
	switch {
	case there && errors.Is(syscall.Access(at, write), syscall.EACCES):
		who := "the user"
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
		return missing("%s may not use %s, and sudo asks for a password; let an administrator "+
			"run `sudo usermod -aG docker %[1]s` there, then log in again", who, at)
	case there || has("docker") || has("dockerd"):
		return missing("Docker is installed but does not answer at %s: start it with "+
			"`sudo systemctl start docker` there", at)
	}
	return missing("Docker is not installed there: see https://docs.docker.com/engine/install/")
}

// missing is why there is no engine.
func missing(format string, args ...any) error { return &Missing{fmt.Sprintf(format, args...)} }

// Missing says why no engine answers, and what helps.
type Missing struct{ Text string }

func (m *Missing) Error() string { return m.Text }

// command is a running program as a connection.
type command struct {
	io.WriteCloser
	io.ReadCloser
	process *os.Process
	wait    func() error
}

// start starts a program, and returns its standard input and output.
func start(argv ...string) (net.Conn, error) {
	c := exec.Command(argv[0], argv[1:]...)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &command{in, out, c.Process, sync.OnceValue(c.Wait)}, nil
}

// Read reads what the program prints. At its end the program has ended.
func (c *command) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := c.wait(); failed != nil {
			err = failed
		}
	}
	return n, err
}

// CloseWrite ends the program's input.
func (c *command) CloseWrite() error { return c.WriteCloser.Close() }

// Close ends the program.
func (c *command) Close() error {
	err := errors.Join(c.WriteCloser.Close(), c.ReadCloser.Close())
	_ = c.process.Kill()         // not allowed where it is root's, which ends with its input
	go func() { _ = c.wait() }() // nobody waits for it
	return err
}

func (*command) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (*command) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (*command) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (*command) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (*command) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }
