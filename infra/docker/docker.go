// Package docker speaks to the Docker Engine of a host: containers, images, networks, volumes.
//
// The other packages of infra, nvdocker and the commands may import it. It imports nothing of this project, and is the only
// one that knows the client library (github.com/docker/docker/client): none of the library's types appear in its own, so that
// another client is a change to this package alone. Protocol: https://docs.docker.com/reference/api/engine/, from version
// 1.40 (Engine 19.03) on; the version is negotiated with every engine.
//
// # How an engine is reached
//
// Host is all that it needs of a machine. In this order, until one answers:
//
//	the Unix socket              0.4 ms a call on a connection that is kept
//	docker system dial-stdio     where the socket cannot be dialled, as when sshd forbids forwarding, and where the user's
//	                             docker context names another one, as that of a rootless engine
//	sudo -n ... dial-stdio       where the user is not in the group docker
//
// # What it never does
//
// It makes no folder on the host: a bind mount whose source is missing is a fault. It compares images by label and digest,
// never by id, which differs between Docker's two image stores. It stores no login: see Engine.PullImage.
package docker

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/docker/docker/client"
)

// Socket is where a Docker Engine listens unless it was told otherwise.
const Socket = "/var/run/docker.sock"

const (
	// minAPI is the oldest version that is spoken: Engine 19.03, the first that can hand out GPUs.
	minAPI = "1.40"
	// openTimeout bounds one way of reaching the engine. Over a slow connection dial-stdio takes a second or two.
	openTimeout = 20 * time.Second
	// cleanTimeout bounds what is still done after a call failed or was cancelled.
	cleanTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept: longer than the pause between two looks of somebody who watches.
	idleTimeout = 90 * time.Second
	// idleSockets and idlePipes are how many unused connections are kept. A pipe is a process on the host and one of the few
	// sessions that its sshd allows.
	idleSockets, idlePipes = 16, 2
)

// Host is a machine as this package needs it. Its methods are called concurrently.
//
// The context of both bounds the opening alone: the connection lives until it is closed. A connection should have a method
// CloseWrite() error, which ends what the other side reads; without it Exec and ExecPipe cannot end a standard input.
type Host interface {
	// Dial connects to an address as seen from the host; the network is "unix" or "tcp".
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	// Pipe runs a command on the host, without a shell between, and gives its standard input and output. Reading ends with
	// io.EOF when the command ended, or with an error that says how it failed. Close ends the command.
	Pipe(ctx context.Context, argv ...string) (net.Conn, error)
}

// Options of Open. The zero value is a host without a name and an engine at its usual place.
type Options struct {
	Name    string   // the host's name in errors
	Sockets []string // Unix sockets to try, in order, such as that of a rootless engine; none: Socket
}

// Engine is the Docker Engine of one host. All methods may be called concurrently, end early with their context, and give
// errors whose kind KindOf tells.
type Engine struct {
	host string
	way  way
	on   Host
	api  *client.Client
}

// Close closes the connections that wait for use. Calls and streams that still run keep theirs until they end.
func (e *Engine) Close() error { return e.api.Close() }

// connect makes a client that reaches the engine one way. It sends nothing yet.
func connect(host Host, w way) (*client.Client, error) {
	idle := idleSockets
	if w.socket == "" {
		idle = idlePipes
	}
	transport := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx, host) },
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
	options := []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithScheme("http"),
		client.WithAPIVersionNegotiation(),
	}
	if w.socket != "" { // for its messages; it sets up the transport that the next option replaces
		options = append([]client.Opt{client.WithHost("unix://" + w.socket)}, options...)
	}
	return client.NewClientWithOpts(options...)
}
