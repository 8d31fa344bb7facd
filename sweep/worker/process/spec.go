package process

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// ErrKill, as the cause of a context (context.WithCancelCause), makes Run end the program without
// SIGTERM and grace.
var ErrKill = errors.New("kill at once")

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("the keeper of processes is closed")

// Spec is a program to run. Only Argv is required.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the PATH of Env
	// or, if there is none, in /usr/local/bin:/usr/bin:/bin; any other relative name is relative to
	// Dir.
	Argv []string
	// Env is the whole environment, as NAME=value. Nothing is inherited.
	Env []string
	// Dir is the working directory; "" is that of this process.
	Dir string
	// Stdout and Stderr receive the output, always from one goroutine, in pieces of up to 64 KiB
	// that they must not retain; nil is /dev/null, the same Writer twice is one pipe. They must not
	// block for long: meanwhile neither Timeout nor Grace is enforced. After an error the rest of
	// that output is read and discarded.
	Stdout, Stderr io.Writer
	// Marks are members of Env that no other program running at the same time has all of. They
	// identify processes that escaped.
	Marks []string
	// Own are folders that the program may write to if its Keeper confines it.
	Own []string
	// Timeout ends the program if it runs longer; 0 is no limit.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL; with 0 there is no SIGTERM.
	Grace time.Duration
	// Started, if not nil, is called once when the program runs. It must return quickly.
	Started func(pid int)
	// Ended, if not nil, is called when processes outlive the program and end neither by themselves
	// within 100 ms nor at once after SIGTERM. It gets the Exit that Run returns later, except for
	// Left and Unkillable. The program's output was written before; later output is from the
	// remaining processes. If Ended is not called, the return of Run is the end.
	Ended func(Exit)
}

// Cause is why a program is no longer running.
type Cause uint8

const (
	Exited      Cause = iota // by itself, with Exit.Code
	Signalled                // by Exit.Signal, which was not ours
	OutOfMemory              // by the kernel, for want of memory
	TimedOut                 // ended by Run: it ran longer than Spec.Timeout
	Stopped                  // ended by Run: the context was done; perhaps it never began
	// never began: missing (Exit.Code 127) or not a program that can run here (126)
	BadProgram
	// never began: the host lacks processes, memory, descriptors, space or the directory
	BadHost
)

func (c Cause) String() string {
	names := [...]string{"exited", "signalled", "out of memory", "timed out", "stopped",
		"bad program", "bad host"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// Exit is how a program ended.
type Exit struct {
	Cause Cause
	// Code is the exit code of the program, whatever the Cause; -1 if a signal ended it or it did
	// not start (but see BadProgram).
	Code int
	// Signal is the signal that ended the program, whatever the Cause; 0 for none.
	Signal syscall.Signal
	// Err explains why the program did not start, or is the cause of the context that stopped it.
	// It is nil if the program ended by itself.
	Err error
	// OutputErr is the first error of Stdout or Stderr; output after it is missing.
	OutputErr error
	// Started is when the program was started, zero if it was not.
	Started time.Time
	// Duration is from start to end of the program itself, by the monotonic clock.
	Duration time.Duration
	// Left counts processes that outlived the program and had to be ended by a signal.
	Left int
	// Unkillable are processes that are alive 5 s after SIGKILL, for example because they wait for
	// a dead disk. They end when the kernel lets them.
	Unkillable []int
}

// setStatus records what wait(2) returned about the program.
func (e *Exit) setStatus(status syscall.WaitStatus) {
	switch {
	case status.Exited():
		e.Code = status.ExitStatus()
	case status.Signaled():
		e.Signal = status.Signal()
		if e.Cause == Exited {
			e.Cause = Signalled
		}
	}
}
