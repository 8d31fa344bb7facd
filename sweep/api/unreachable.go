package api

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Unreachable says that no master can be asked at a socket.
type Unreachable struct {
	Socket string
	Why    string // a sentence's end: "there is no such file"
	Remedy string
	err    error
}

func (e *Unreachable) Error() string {
	return "the master at " + e.Socket + " cannot be reached: " + e.Why
}

// Unwrap is what the system said.
func (e *Unreachable) Unwrap() error { return e.err }

// unreachable puts into words why nobody could be reached. A refusal may also come from what is no socket.
func unreachable(socket string, err error) *Unreachable {
	e := &Unreachable{Socket: socket, err: err, Why: err.Error(), Remedy: "look at the path and at the master's log"}
	info, stat := os.Stat(socket)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Why, e.Remedy = "there is no such file", "start the master (sweepd master), or name its socket"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Why, e.Remedy = "this user may not open it", "its owner may: run it as that user, or start the master with a group that you are in"
	case stat == nil && info.Mode().Type() != fs.ModeSocket:
		e.Why, e.Remedy = "it is no socket", "name the socket of the master"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Why, e.Remedy = "nobody listens there", "the master has ended: start it again (sweepd master)"
	case errors.Is(err, syscall.EINVAL):
		e.Why, e.Remedy = "the path is too long for a socket", "name it by a shorter path: from its folder, or by a link"
	}
	return e
}
