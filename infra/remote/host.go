package remote

import (
	"context"
	"io"
	"net"
)

// Local is the name of the host that is this machine.
const Local = "local"

// Host is a connection to one host: over ssh, or this machine itself. All methods may be called
// concurrently.
type Host interface {
	// Name is the host as the user listed it: "anna@gpu1", "local".
	Name() string

	// Run runs a command to its end. Its errors are *ExitError when the command ran and failed,
	// *Error when it could not be run or the connection died, and the cause of ctx.
	//
	// The end of ctx ends the command: its process group gets SIGTERM, its input ends and its
	// output is closed. Run waits two seconds for that, and no longer for what ignores it. After
	// Run has returned nothing is written to Stdout and Stderr, but Stdin may be read once more.
	//
	// sshd counts every command as a session, of which it allows 10 at once (MaxSessions).
	Run(ctx context.Context, c Command) error

	// Pipe starts a command and gives its standard input and output as a connection. Stdin and
	// Stdout must not be set. ctx is about the start only.
	//
	// CloseWrite, which the connection has beside net.Conn, ends the input. Reading ends with
	// io.EOF if the command ended well, else with the errors of Run. Close ends the input, too, and
	// a moment later the command.
	Pipe(ctx context.Context, c Command) (net.Conn, error)

	// Facts tells what is at the other end.
	Facts() Facts

	// Done is closed when the connection has ended, by Close or because it died; Err then tells
	// why, and is nil before. A local host ends by Close only.
	Done() <-chan struct{}
	Err() error

	// Close ends the connection. It does not wait, and can be called twice. A command that still
	// runs sees its input end and its output closed; over ssh no signal reaches it.
	Close() error
}

// Facts of a connection.
type Facts struct {
	User string // who the commands run as
	// what the name was resolved to by ~/.ssh/config: a name or an address, without port
	HostName string
	Port     int // 0 for a local host
	// of the other end, IP:PORT; behind a jump host, where it is not known, HostName:PORT
	Address string
	Via     string // the jump host next to it; "": none
}

// Command is what to run on a host. Exactly one of Argv and Script is set.
type Command struct {
	// Argv is a program and its arguments, as they are: nothing in them is expanded.
	Argv []string
	// Script is text for the host's POSIX shell, /bin/sh, whatever shell the user logs in with.
	Script string

	Stdin  io.Reader // nil: empty
	Stdout io.Writer // nil: dropped
	Stderr io.Writer // nil: dropped, but for its end in an ExitError
}
