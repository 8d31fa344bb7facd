package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"mlframework/internal/peercred"
	"mlframework/sweep/api"
)

// access is what the connections of a listener may do.
type access struct {
	steering  bool // only reads, and routes that steer, are allowed
	ownerOnly bool // only the owner of the process and root are allowed
}

// accessKey is the context key of the access of a connection.
type accessKey struct{}

// withAccess returns a context with the access of a listener.
func withAccess(ctx context.Context, l net.Listener) context.Context {
	var a access
	if l, ok := l.(*listener); ok {
		a = access{l.steering, true}
	}
	return context.WithValue(ctx, accessKey{}, a)
}

// checkAccess refuses a request for a route that its socket does not serve.
func checkAccess(ctx context.Context, r route) error {
	if a, _ := ctx.Value(accessKey{}).(access); a.steering && r.writes() && !r.steers {
		return errNotHere
	}
	return nil
}

// checkSteering refuses, at the monitor's socket, to continue a sweep with anything but its own code
// and settings: who takes over the monitor can stop or repeat work, and never run new code.
func checkSteering(ctx context.Context, c api.Continuation) error {
	c.KeepGoing = false
	if a, _ := ctx.Value(accessKey{}).(access); a.steering && !c.IsZero() {
		return errNotHere
	}
	return nil
}

var errNotHere = &api.Error{Status: http.StatusForbidden,
	Text:   "this socket of the master is for the monitor, and runs no new code",
	Remedy: "use its other socket"}

// peerKey is the context key of the peer of a connection.
type peerKey struct{}

// peer is the user at the other end of a connection.
type peer struct {
	uid   int
	known bool
}

// peerOf returns who opened a connection.
func peerOf(c net.Conn) peer {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{}
	}
	uid, err := peercred.UID(u)
	return peer{uid, err == nil}
}

// checkPeer refuses requests of other users at a socket, even if its mode was changed. Where the
// system does not report the peer's uid, the mode is the only check.
func checkPeer(ctx context.Context) error {
	a, _ := ctx.Value(accessKey{}).(access)
	p, _ := ctx.Value(peerKey{}).(peer)
	if own := os.Geteuid(); a.ownerOnly && p.known && !p.trusted(own) {
		return &api.Error{Status: http.StatusForbidden,
			Text:   fmt.Sprintf("this socket is for uid %d alone, and you are uid %d", own, p.uid),
			Remedy: "log in as the user who started the master"}
	}
	return nil
}

// trusted reports whether a peer may do everything that a process of uid own may do.
func (p peer) trusted(own int) bool { return p.uid == own || p.uid == 0 }
