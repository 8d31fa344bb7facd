// Package docker speaks to the Docker Engine of a host: containers, images, networks, volumes.
//
// The other packages of infra, nvdocker and the commands may import it. It imports nothing of this
// project, and is the only one that knows the client library (github.com/docker/docker/client):
// none of the library's types appear in its own, so that another client is a change to this package
// alone. Protocol: https://docs.docker.com/reference/api/engine/, from version 1.40 (Engine 19.03)
// on; the version is negotiated with every engine.
//
// # How an engine is reached
//
// Host is all that it needs of a machine: connections to the engine, however they are opened
// (package engine finds out how on the machine itself), and a command for images that need a login.
//
// # What it never does
//
// It makes no folder on the host: a bind mount whose source is missing is a fault. It compares
// images by label and digest, never by id, which differs between Docker's two image stores. It
// stores no login: see Engine.PullImage.
package docker

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/docker/docker/client"
)

const (
	// minAPI is the oldest version that is spoken: Engine 19.03, the first that can hand out GPUs.
	minAPI = "1.40"
	// openTimeout bounds the first answer of an engine.
	openTimeout = 20 * time.Second
	// cleanTimeout bounds what is still done after a call failed or was cancelled.
	cleanTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept: longer than the pause between two looks
	// of somebody who watches.
	idleTimeout = 90 * time.Second
	// idleConns is how many unused connections are kept. Where a command stands in for the engine's
	// socket each is a process on the host.
	idleConns = 4
)

// Host is a machine as this package needs it. Its functions are called concurrently.
type Host struct {
	Name string // in errors; "" is none
	// Dial connects to the engine. ctx bounds the opening alone: the connection lives until it is
	// closed. It should have a method CloseWrite() error, which ends what the other side reads;
	// without it Exec cannot end a standard input.
	Dial func(ctx context.Context) (net.Conn, error)
	// Output runs a command, without a shell between, and returns what it prints. Reading ends with
	// io.EOF when the command ended well, or with an error that says how it failed. Close ends the
	// command. nil: images that need a login cannot be pulled.
	Output func(ctx context.Context, argv ...string) (io.ReadCloser, error)
}

// Engine is the Docker Engine of one host. All methods may be called concurrently, end early with
// their context, and give errors whose kind KindOf tells.
type Engine struct {
	on  Host
	api *client.Client
}

// Close closes the connections that wait for use. Calls and streams that still run keep theirs
// until they end.
func (e *Engine) Close() error { return e.api.Close() }

// connect makes a client. It sends nothing yet.
func connect(host Host) (*client.Client, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := host.Dial(ctx)
			if err != nil {
				return nil, &undialled{err}
			}
			if a, ok := ctx.Value(abortKey{}).(*abort); ok {
				a.arm(ctx, conn)
			}
			return conn, nil
		},
		MaxIdleConns:        idleConns,
		MaxIdleConnsPerHost: idleConns,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
	return client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport,
			CheckRedirect: client.CheckRedirect}),
		client.WithScheme("http"),
		client.WithAPIVersionNegotiation(),
	)
}

// undialled is what a host says that opens no connection to its engine.
type undialled struct{ err error }

func (u *undialled) Error() string { return u.err.Error() }
func (u *undialled) Unwrap() error { return u.err }
