package process

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// ErrKill as the cause of a context (context.WithCancelCause) makes Run end the program without
// SIGTERM and grace.
var ErrKill = errors.New("kill at once")

// ErrClosed is the error of a Run that meets a closed Keeper.
var ErrClosed = errors.New("the keeper of processes is closed")

// Spec is a program to run. Only Argv is required.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the PATH of
	// Env, or in /usr/local/bin:/usr/bin:/bin without one; any other relative name is relative to
	// Dir.
	Argv []string
	// Env is the whole environment, as NAME=value. Nothing is inherited.
	Env []string
	// Dir is the working directory; empty is this process's own.
	Dir string
	// Stdout and Stderr get the output, always from one goroutine, in pieces of up to 64 KiB that
	// they must not keep; nil is /dev/null, the same Writer twice is one pipe. They must not block
	// for long: while they do, neither Timeout nor Grace is watched. After an error the rest of
	// that output is read and dropped.
	Stdout, Stderr io.Writer
	// Marks are members of Env that no other program running at the same time has all of: by them a
	// process that escaped is known.
	Marks []string
	// Own are folders that the program may write to where its Keeper confines it.
	Own []string
	// Timeout ends the program when it runs longer; 0 is no limit.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL; with 0 there is no SIGTERM.
	Grace time.Duration
	// Started is called once when the program runs, if not nil. It must return quickly.
	Started func(pid int)
	// Ended is called, if not nil, where processes outlive the program and do not end of themselves
	// within 100 ms, nor at once when they get SIGTERM: with the Exit that Run returns later, but
	// for Left and Stuck. What the program printed was written before; what comes after is theirs.
	// Where it is not called, the return of Run tells the end.
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
	// Code is the exit code of the program, whatever the Cause; -1 when a signal ended it or it
	// never began (but see BadProgram).
	Code int
	// Signal is what ended the program, whatever the Cause; 0 for none.
	Signal syscall.Signal
	// Err says in a sentence why the program never began, or is the cause of the context that
	// stopped it. It is nil when the program ended by itself.
	Err error
	// OutputErr is the first error of Stdout or Stderr; output after it is missing.
	OutputErr error
	// Started is the time when the program was started, zero when it never began.
	Started time.Time
	// Duration is from start to end of the program itself, by the monotonic clock.
	Duration time.Duration
	// Left counts processes that outlived the program and had to be ended by a signal.
	Left int
	// Stuck lists processes that are alive 5 s after SIGKILL, as those waiting for a dead disk are.
	// They end when the kernel lets them.
	Stuck []int
}

// setStatus takes what wait(2) told about the program.
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
