package docker

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
)

// Command is a program to run inside a container. It runs with the container's limits.
type Command struct {
	Argv []string
	User string   // "": the container's
	Env  []string // more than the container's
	Dir  string   // "": the container's
	TTY  *TTY     // nil: it has no terminal
}

// TTY is the terminal of a command. Its output comes by stdout alone.
type TTY struct {
	Size    func() (height, width int) // in characters, as it is now
	Resized <-chan os.Signal           // gets something when the size has changed
}

// pollFirst and pollMost are the pauses in asking for the end of a program whose output has ended:
// usually it ended, too.
const pollFirst, pollMost = 2 * time.Millisecond, 200 * time.Millisecond

// Exec runs a command in a running container until it ends and gives its exit code, which is 126 or
// 127 where it could not be started; stdout has the reason then. A nil stdin is empty, and nil
// writers discard.
//
// It reads stdin to its end, or until the program has ended: it may then still read a piece of stdin
// after its return. When the context ends, Exec does; the program loses its standard streams and
// is not killed, which Docker has no call for. Faults: NotFound, Conflict (the container does not
// run).
func (e *Engine) Exec(ctx context.Context, name string, c Command, stdin io.Reader, stdout,
	stderr io.Writer) (code int, err error) {
	op := "run " + c.name() + " in container " + name
	guard := &abort{}
	id, conn, err := e.attach(ctx, guard, name, c)
	if err != nil {
		return 0, e.fail(op, err)
	}
	defer guard.release()
	defer conn.Close()
	sent := make(chan error, 1)
	go func() { sent <- feed(conn, stdin) }()
	if stdout == nil {
		stdout = io.Discard
	}
	if stderr == nil {
		stderr = io.Discard
	}
	var feeding error
	if c.TTY != nil {
		resizing, stop := context.WithCancel(ctx)
		go e.resize(resizing, id, c.TTY)
		_, err = io.Copy(stdout, untilReset{conn.Reader})
		stop()
	} else {
		err = demultiplex(stdout, stderr, untilReset{conn.Reader})
		conn.Close() // so that nothing more is sent
		select {
		case feeding = <-sent:
		default: // it reads what does not end
		}
	}
	switch {
	case ctx.Err() != nil:
		return 0, e.fail(op, ctx.Err())
	case err != nil:
		return 0, e.fail(op, err)
	case errors.Is(feeding, errNoEnd):
		return 0, e.fail(op, feeding)
	}
	code, err = e.exit(ctx, id)
	return code, e.fail(op, err)
}

// untilReset reads the output of a program. An engine that closes a Unix socket with input unread,
// because the program has ended without reading it, resets the connection. By then everything that
// the engine sent has been read: Linux reports the reset of a Unix socket after its data.
type untilReset struct{ io.Reader }

func (r untilReset) Read(b []byte) (n int, err error) {
	if n, err = r.Reader.Read(b); errors.Is(err, syscall.ECONNRESET) {
		err = io.EOF
	}
	return n, err
}

func (c Command) name() string {
	if len(c.Argv) == 0 {
		return "nothing"
	}
	return c.Argv[0]
}

// errNoEnd comes from a Host that does not keep to its contract.
var errNoEnd = errors.New("the connection to the host has no CloseWrite, without which a " +
	"standard input cannot end")

// feed sends a standard input and its end. Otherwise its errors count for nothing: a program need
// not read.
func feed(conn types.HijackedResponse, stdin io.Reader) error {
	if stdin != nil {
		if _, err := io.Copy(conn.Conn, stdin); err != nil {
			return err
		}
	}
	return closeWrite(conn.Conn)
}

func closeWrite(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return errNoEnd
	}
	return half.CloseWrite()
}

// attach starts the command. Until guard is released the end of ctx closes the connection.
func (e *Engine) attach(ctx context.Context, guard *abort, name string, c Command) (id string,
	conn types.HijackedResponse, err error) {
	made, err := e.api.ContainerExecCreate(ctx, name, container.ExecOptions{
		Cmd: c.Argv, User: c.User, Env: c.Env, WorkingDir: c.Dir,
		AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: c.TTY != nil,
	})
	if err != nil {
		return "", conn, err
	}
	begin := container.ExecAttachOptions{Tty: c.TTY != nil}
	if c.TTY != nil {
		height, width := c.TTY.Size()
		begin.ConsoleSize = &[2]uint{uint(height), uint(width)}
	}
	conn, err = e.api.ContainerExecAttach(context.WithValue(ctx, abortKey{}, guard), made.ID, begin)
	if err != nil {
		guard.release()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return made.ID, conn, err
}

// resize tells a command of the size of its terminal, until ctx ends.
func (e *Engine) resize(ctx context.Context, id string, t *TTY) {
	for {
		select {
		case <-t.Resized:
		case <-ctx.Done():
			return
		}
		height, width := t.Size()
		_ = e.api.ContainerExecResize(ctx, id, container.ResizeOptions{
			Height: uint(height), Width: uint(width)}) // the program may have ended
	}
}

// exit waits for the end of a command and gives its exit code. There is no call that waits.
func (e *Engine) exit(ctx context.Context, id string) (int, error) {
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		state, err := e.api.ContainerExecInspect(ctx, id)
		if err != nil {
			return 0, err
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// abort closes a connection for which the client library leaves the context alone: it honours it
// neither while such a connection is set up nor later.
type abort struct{ stop atomic.Pointer[func() bool] }

type abortKey struct{}

func (a *abort) arm(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	a.stop.Store(&stop)
}

// release lets the connection outlive its context. It is false when that had ended already.
func (a *abort) release() bool {
	stop := a.stop.Load()
	return stop == nil || (*stop)()
}
