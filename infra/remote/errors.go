package remote

import (
	"fmt"
	"strings"
)

// Kind is what kept a host from being reached or used.
type Kind string

// The kinds of errors. Changed and Revoked mean that it may not be the host that it says it is.
const (
	UnknownName Kind = "name"        // the name has no address
	Refused     Kind = "refused"     // nothing listens there
	Unreachable Kind = "unreachable" // no way there
	TimedOut    Kind = "timeout"     // no answer, or not all of it
	Reset       Kind = "reset"       // hung up before it said who it is: sshd's MaxStartups, mostly
	NoSSH       Kind = "protocol"    // no common language
	HostUnknown Kind = "host-unknown"
	HostChanged Kind = "host-changed"
	HostRevoked Kind = "host-revoked"
	BadCert     Kind = "host-certificate"
	BadLogin    Kind = "login"      // no key was taken
	Passphrase  Kind = "passphrase" // a key was taken, but is locked
	BadKey      Kind = "key"        // a key that was named cannot be used
	BadConfig   Kind = "config"     // what the user or ~/.ssh/config says of the host
	NoSession   Kind = "session"    // sshd gives no session
	Lost        Kind = "lost"       // the connection died
	Closed      Kind = "closed"     // by Close
)

// Error is why something could not be done on a host. The text is for people; Kind is for deciding.
type Error struct {
	Host   string // as listed
	Op     string // "connect to gpu1 through bastion"
	Kind   Kind
	Cause  string
	Remedy string // "": there is none to name
	Err    error  // what is below it; may be nil
}

func (e *Error) Error() string {
	s := e.Op + ": " + e.Cause
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// ExitError is a command that ran and failed.
type ExitError struct {
	Host    string
	Command string // its beginning
	// 1 to 255; 127 means that there is no such program. 0 if a signal ended it, or if Missing
	Code    int
	Signal  string // without SIG: "TERM"
	Missing bool   // the host did not say how it ended
	Stderr  string // no more than the last 4 KiB of it
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Code)
	switch {
	case e.Signal != "":
		how = "ended by signal " + e.Signal
	case e.Missing:
		how = "ended, and the host did not say how"
	}
	s := fmt.Sprintf("run %s on %s: %s", e.Command, e.Host, how)
	if text := strings.TrimSpace(e.Stderr); text != "" {
		s += ": " + text
	}
	return s
}

// textKept bounds what comes from a host or the user into one part of an error, in bytes.
const textKept = 400

// clip shortens text for an error.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > textKept {
		return strings.ToValidUTF8(s[:textKept], "") + "…"
	}
	return s
}
