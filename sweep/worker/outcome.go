package worker

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/failure"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// outcome converts the exit of a program to the outcome of an attempt.
func outcome(e process.Exit, limit time.Duration) task.Outcome {
	o := task.Outcome{Duration: e.Duration}
	if e.Code >= 0 {
		o.ExitCode = &e.Code
	}
	switch e.Cause {
	case process.Exited:
		o.Class = task.Success
		if e.Code != 0 {
			o.Class, o.Reason = task.Error, fmt.Sprintf("exit code %d", e.Code)
		}
	case process.Signalled:
		o.Class, o.Reason = task.Error, "ended by "+unix.SignalName(e.Signal)
	case process.OutOfMemory:
		o.Class, o.Reason = task.OutOfMemory, "ended by the kernel: out of memory"
	case process.TimedOut:
		o.Class, o.Reason = task.TimedOut, fmt.Sprintf("ran longer than %v", limit)
	case process.Stopped:
		o.Class, o.Reason = task.Stopped, "stopped"
	case process.BadProgram:
		o.Class, o.Reason = task.Error, fmt.Sprintf("exit code %d: %v", e.Code, e.Err)
	default:
		o.Class, o.Reason = task.Loss, fmt.Sprintf("infra: %v", e.Err)
	}
	return o
}

// addReason appends to the reason of a failed program its last words: from stderr or, if it exited
// by itself, an error from stdout. If a limit ended the program, the reason is known.
func addReason(o *task.Outcome, e process.Exit, stdout, stderr *stream) {
	if o.Class != task.Error || e.Cause != process.Exited && e.Cause != process.Signalled {
		return
	}
	line := stderr.failureLine((*failure.Tail).Line)
	if line == "" && e.Cause == process.Exited {
		line = stdout.failureLine((*failure.Tail).ErrorLine)
	}
	if line != "" {
		o.Reason += ": " + line
	}
}
