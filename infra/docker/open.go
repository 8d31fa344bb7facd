package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/docker/docker/api/types/versions"
)

// way is one way to reach an engine: a socket, or else a command.
type way struct {
	socket string
	argv   []string
}

func (w way) String() string {
	if w.socket != "" {
		return "unix://" + w.socket
	}
	return strings.Join(w.argv, " ")
}

// sudo tells whether the engine is reached as root although the user is another.
func (w way) sudo() bool { return len(w.argv) > 0 && w.argv[0] == "sudo" }

// dial opens a connection, and lets an abort that waits for it close it.
func (w way) dial(ctx context.Context, host Host) (conn net.Conn, err error) {
	if w.socket != "" {
		conn, err = host.Dial(ctx, "unix", w.socket)
	} else {
		conn, err = host.Pipe(ctx, w.argv...)
	}
	if err != nil {
		return nil, err
	}
	if a, ok := ctx.Value(abortKey{}).(*abort); ok {
		a.arm(ctx, conn)
	}
	return conn, nil
}

// ways lists how to reach an engine, the quickest first.
func ways(sockets []string) (all []way) {
	if len(sockets) == 0 {
		sockets = []string{Socket}
	}
	for _, s := range sockets {
		all = append(all, way{socket: s})
	}
	return append(all,
		way{argv: []string{"docker", "system", "dial-stdio"}},
		way{argv: []string{"sudo", "-n", "docker", "system", "dial-stdio"}})
}

// Open finds the engine of a host and agrees with it on a version of the API.
//
// Errors are Faults. TooOld: it answers, but speaks nothing that this package does. PermissionDenied or Gone: no way leads to
// it; the text has what was found on the host and the command that helps.
func Open(ctx context.Context, host Host, o Options) (*Engine, error) {
	tried := ways(o.Sockets)
	var failed []error
	for _, w := range tried {
		e := &Engine{host: o.Name, way: w, on: host}
		err := e.greet(ctx)
		switch {
		case err == nil:
			return e, nil
		case ctx.Err() != nil:
			return nil, e.fail("reach docker", context.Cause(ctx))
		case KindOf(err) == TooOld:
			return nil, err
		}
		failed = append(failed, fmt.Errorf("%s: %w", w, err))
	}
	return nil, unreached(ctx, host, o.Name, tried, errors.Join(failed...))
}

// greet makes the client and asks for the engine's version.
func (e *Engine) greet(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if e.api, err = connect(e.on, e.way); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = e.api.Close()
		}
	}()
	pong, err := e.api.Ping(ctx)
	if err != nil {
		return err
	}
	if pong.APIVersion == "" || versions.LessThan(pong.APIVersion, minAPI) {
		return &Fault{Kind: TooOld, Op: "reach docker", Host: e.host, Detail: fmt.Sprintf(
			"the engine speaks API version %q; mlframework needs %s, which Docker 19.03 brought: upgrade Docker there", pong.APIVersion, minAPI)}
	}
	e.api.NegotiateAPIVersionPing(pong)
	return nil
}
