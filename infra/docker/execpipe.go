package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/docker/docker/api/types"
)

// ExecPipe runs a command in a running container and gives its standard input and output as a connection, such as a relay to a
// socket that only the container sees. The context bounds the opening alone.
//
// Reading ends with io.EOF when the command ended with exit code 0, else with an error that has the code and the last of its
// standard error. CloseWrite ends its input. Close leaves a command that does not end with its input running.
func (e *Engine) ExecPipe(ctx context.Context, name string, c Command) (net.Conn, error) {
	op := "run " + c.name() + " in container " + name
	guard := &abort{}
	id, conn, err := e.attach(ctx, guard, name, c)
	if err != nil {
		return nil, e.fail(op, err)
	}
	if !guard.release() {
		conn.Close()
		return nil, e.fail(op, ctx.Err())
	}
	p := &pipe{Conn: conn.Conn, engine: e, id: id, op: op}
	p.out = frames{src: conn.Reader, aside: &p.said}
	return p, nil
}

// pipe is a command's standard streams. Its Write, Close and deadlines are those of the connection below.
type pipe struct {
	net.Conn
	engine *Engine
	id, op string

	reading sync.Mutex // of what follows
	out     frames
	said    tail
	ended   error
}

func (p *pipe) CloseWrite() error { return closeWrite(p.Conn) }

func (p *pipe) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.ended != nil {
		return 0, p.ended
	}
	n, err := p.out.Read(b)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		p.ended = p.end()
		err = p.ended
	default:
		err = p.engine.fail(p.op, err)
	}
	return n, err
}

// end tells how the command ended.
func (p *pipe) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout) // a connection has no context
	defer cancel()
	code, err := p.engine.exit(ctx, p.id)
	switch {
	case err != nil:
		return p.engine.fail(p.op, err)
	case code != 0:
		return p.engine.fail(p.op, fmt.Errorf("it ended with exit code %d: %s", code, strings.TrimSpace(string(p.said.kept))))
	}
	return io.EOF
}

var _ types.CloseWriter = (*pipe)(nil)
