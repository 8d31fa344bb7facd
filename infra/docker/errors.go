package docker

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"
)

// Kind is what sort of fault a call met, for callers that act on it.
type Kind string

const (
	Other    Kind = "other"     // everything that has no kind of its own
	NotFound Kind = "not found" // no such container, image, network or volume
	// a bind mount names a path that the host does not have
	NoSource         Kind = "no source"
	Conflict         Kind = "conflict"          // the name is taken, or the thing is in use
	PortTaken        Kind = "port taken"        // a published port is in use on the host
	NoSpace          Kind = "no space"          // the disk of Docker's folder is full
	Unauthorized     Kind = "unauthorized"      // a registry wants a login, or another one
	PermissionDenied Kind = "permission denied" // the user may not use Docker
	// engine and this package have no version of the API in common
	TooOld Kind = "too old"
	Gone   Kind = "gone" // the engine cannot be reached (any more)
	// the engine has no driver for the devices that were asked for
	NoToolkit Kind = "no toolkit"
	Cancelled Kind = "cancelled" // the context ended; errors.Is tells which way
)

// Fault is the error of every call. errors.Unwrap gives what the engine or the connection said.
type Fault struct {
	Kind   Kind
	Op     string // what was tried: "start container broker"
	Host   string // "" where it has no name
	Detail string // cause and remedy in words

	err error
}

func (f *Fault) Error() string {
	text := f.Op
	if f.Host != "" {
		text += " on " + f.Host
	}
	return text + ": " + f.Detail
}

func (f *Fault) Unwrap() error { return f.err }

// KindOf gives the kind of an error of this package, "" for nil, and Other for all else.
func KindOf(err error) Kind {
	var f *Fault
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Kind
	}
	return Other
}

// fail gives what a call returns; nil stays nil, and a Fault stays as it is.
func (e *Engine) fail(op string, err error) error {
	var known *Fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	f := &Fault{Op: op, Host: e.on.Name, err: err}
	f.Kind, f.Detail = classify(err)
	return f
}

// taken finds address and port in the texts that engines have for it: "Bind for ADDRESS failed:
// port is already allocated" where the engine holds it, "listen tcp4 ADDRESS: bind: address already
// in use" and, from 28 on, "failed to bind host port for ADDRESS:CONTAINER: address already in use"
// where another program does.
var taken = regexp.MustCompile(
	`(?:Bind for|listen (?:tcp|udp|sctp)[46]?|failed to bind (?:host )?port(?: for)?) ([0-9a-f.:\[\]]*?):(\d+)(?:[:/ ]|$)`)

// busy are the words that make such a text one about a port in use, not about an address that the
// host lacks.
var busy = []string{"port is already allocated", "address already in use"}

// toolkit are the texts of an engine that has no driver for a device request, or does not know a
// CDI device.
var toolkit = []string{"could not select device driver", "unresolvable CDI devices",
	"CDI device injection failed"}

// login are the texts of registries that want a login; several come with status 404 or 500.
var login = []string{"unauthorized", "authentication required", "no basic auth credentials",
	"pull access denied",
	"denied: requested access", "toomanyrequests", "incorrect username or password"}

// classify returns kind and words of what the engine, or the way to it, said.
func classify(err error) (Kind, string) {
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	if at := taken.FindStringSubmatch(text); at != nil && hasAny(text, busy) {
		return PortTaken, "port " + at[1] + ":" + at[2] + " is taken on the host"
	}
	var away *undialled
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Cancelled, "it took longer than was allowed"
	case errors.Is(err, context.Canceled):
		return Cancelled, "it was cancelled"
	case errors.As(err, &away):
		return Gone, away.Error()
	case strings.Contains(text, "no space left on device"):
		return NoSpace, text + ": `docker system df` shows what fills the disk"
	case hasAny(text, toolkit):
		return NoToolkit, text
	case strings.Contains(text, "bind source path does not exist"):
		return NoSource, text
	case errdefs.IsUnauthorized(err), hasAny(text, login):
		return Unauthorized, text
	case strings.Contains(text, "client version") && strings.Contains(text, "is too old"):
		return TooOld, text + ": this release of mlframework is too old for that engine"
	case errors.Is(err, fs.ErrPermission), errdefs.IsPermissionDenied(err):
		return PermissionDenied, text
	case errdefs.IsNotFound(err):
		return NotFound, text
	case errdefs.IsConflict(err):
		return Conflict, text
	case lost(err):
		return Gone, "the connection to Docker ended: " + text
	}
	return Other, text
}

// lost tells the end of a connection from an answer.
func lost(err error) bool {
	var op *net.OpError
	if client.IsErrConnectionFailed(err) || errors.As(err, &op) {
		return true
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, io.ErrClosedPipe,
		syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

func hasAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}
