package api

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Unreachable says that whoever was asked does not answer: nobody is there, it went away, or it is
// silent.
type Unreachable struct {
	Who    string // "the master at /run/master.sock"
	Why    string // a sentence's end: "there is no such file"
	Remedy string
	Sent   bool // it may have got the request before it went away
	err    error
}

func (e *Unreachable) Error() string { return e.Who + " cannot be reached: " + e.Why }

// Unwrap is what the system said.
func (e *Unreachable) Unwrap() error { return e.err }

// ErrSilent is in the errors of a master that took a connection and did not answer for a while: it
// may be frozen.
var ErrSilent = errors.New("no sign of life")

// Undecided says that a master went away, or fell silent, while it had a write: the client cannot
// know whether that took effect.
type Undecided struct {
	Err  *Unreachable
	Look string // the command of run-tasks that shows what became of it: "show train-1"
}

func (e *Undecided) Error() string {
	return fmt.Sprintf("%v; the request may or may not have taken effect", e.Err)
}

// Unwrap returns why the master did not answer.
func (e *Undecided) Unwrap() error { return e.Err }

// undecided is the error of a write to a path.
func undecided(err *Unreachable, path string) *Undecided {
	e := &Undecided{Err: err, Look: "ls"}
	switch part := strings.Split(strings.TrimPrefix(path, "/"), "/"); {
	case part[0] == "workers":
		e.Look = "workers"
	case part[0] == "broker":
		e.Look = "broker dead"
	case len(part) > 1: // a sweep
		e.Look = "show " + part[1]
	}
	return e
}

// hungRemedy is what to do about a master that accepts connections and does not respond.
const hungRemedy = "check that its process is running and its machine has memory, then try again"

// unreachable puts into words why nobody could be reached. A refusal may also come from what is no
// socket.
func unreachable(who, socket string, err error) *Unreachable {
	e := &Unreachable{
		Who:    who,
		err:    err,
		Why:    err.Error(),
		Remedy: "look at the path and at the master's log",
	}
	info, stat := os.Stat(socket)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Why = "there is no such file"
		e.Remedy = "start the master (sweepd master), or name its socket"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Why = "this user may not open it"
		e.Remedy = "its owner may: run it as that user, or start the master with a group " +
			"that you are in"
	case stat == nil && info.Mode().Type() != fs.ModeSocket:
		e.Why, e.Remedy = "it is no socket", "name the socket of the master"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Why = "nobody listens there"
		e.Remedy = "the master has ended: start it again (sweepd master)"
	case errors.Is(err, syscall.EAGAIN):
		e.Why, e.Remedy = "too many connections wait there", hungRemedy
	case errors.Is(err, syscall.EINVAL):
		e.Why = "the path is too long for a socket"
		e.Remedy = "name it by a shorter path: from its folder, or by a link"
	}
	return e
}

// wentAway is that a connection broke before all of an answer had come.
func (c *Client) wentAway(err error) *Unreachable {
	return &Unreachable{
		Who:    c.name,
		Sent:   true,
		err:    err,
		Why:    "connection closed before it responded",
		Remedy: "it may be restarting: try again, or check its log",
	}
}
