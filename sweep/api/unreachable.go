package api

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Unreachable is the error of a server that does not answer: nothing listens there, the connection
// was lost, or it is silent.
type Unreachable struct {
	Target string // "the master at /run/master.sock"
	Reason string // the end of a sentence: "there is no such file"
	Remedy string
	Sent   bool // the request may have reached it
	err    error
}

func (e *Unreachable) Error() string { return e.Target + " cannot be reached: " + e.Reason }

// Unwrap returns the error of the system.
func (e *Unreachable) Unwrap() error { return e.err }

// ErrSilent is wrapped by the error for a master that accepted a connection and did not answer: it
// may be frozen.
var ErrSilent = errors.New("no sign of life")

// UnknownOutcome says that the connection was lost, or the master fell silent, during a write: the
// client cannot know whether it took effect.
type UnknownOutcome struct {
	Err          *Unreachable
	CheckCommand string // the command of run-tasks that shows what became of it: "show train-1"
}

func (e *UnknownOutcome) Error() string {
	return fmt.Sprintf("%v; the request may or may not have taken effect", e.Err)
}

// Unwrap returns why the master did not answer.
func (e *UnknownOutcome) Unwrap() error { return e.Err }

// unknownOutcome returns the error of a write to a path.
func unknownOutcome(err *Unreachable, path string) *UnknownOutcome {
	e := &UnknownOutcome{Err: err, CheckCommand: "ls"}
	switch part := strings.Split(strings.TrimPrefix(path, "/"), "/"); {
	case part[0] == "workers":
		e.CheckCommand = "workers"
	case len(part) > 1: // a sweep
		e.CheckCommand = "show " + part[1]
	}
	return e
}

// hungRemedy is the remedy for a master that accepts connections and does not respond.
const hungRemedy = "check that its process is running and its machine has memory, then try again"

// unreachable explains a failed connection to a socket. ECONNREFUSED may also mean that the file is
// not a socket.
func unreachable(who, socket string, err error) *Unreachable {
	e := &Unreachable{
		Target: who,
		err:    err,
		Reason: err.Error(),
		Remedy: "look at the path and at the master's log",
	}
	info, stat := os.Stat(socket)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Reason = "there is no such file"
		e.Remedy = "start the master (sweepd master), or name its socket"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Reason = "this user may not open it"
		e.Remedy = "its owner may: run it as that user, or start the master with a group " +
			"that you are in"
	case stat == nil && info.Mode().Type() != fs.ModeSocket:
		e.Reason, e.Remedy = "it is not a socket", "name the socket of the master"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Reason = "nothing listens there"
		e.Remedy = "the master has ended: start it again (sweepd master)"
	case errors.Is(err, syscall.EAGAIN):
		e.Reason, e.Remedy = "too many connections wait there", hungRemedy
	case errors.Is(err, syscall.EINVAL):
		e.Reason = "the path is too long for a socket"
		e.Remedy = "name it by a shorter path: from its folder, or by a link"
	}
	return e
}

// connectionLost is the error of a connection that broke before the answer was complete.
func (c *Client) connectionLost(err error) *Unreachable {
	return &Unreachable{
		Target: c.name,
		Sent:   true,
		err:    err,
		Reason: "connection closed before it responded",
		Remedy: "it may be restarting: try again, or check its log",
	}
}
