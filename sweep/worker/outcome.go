package worker

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"mlframework/sweep/failure"
	"mlframework/sweep/human"
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
		if idle, is := errors.AsType[gpusIdle](e.Err); is {
			o.Class, o.Reason = task.Error, idle.Error()
		}
	case process.BadProgram:
		o.Class, o.Reason = task.Error, fmt.Sprintf("exit code %d: %v", e.Code, e.Err)
	default:
		o.Class, o.Reason = task.Loss, fmt.Sprintf("infra: %v", e.Err)
	}
	return o
}

// addReason appends to the reason of a failed program its last words: from stderr or, if it exited
// by itself, an error from stdout. If a limit ended the program, the reason is known. The folders are
// those of the task.
func addReason(o *task.Outcome, e process.Exit, stdout, stderr *outputStream, folders ...string) {
	if o.Class != task.Error || e.Cause != process.Exited && e.Cause != process.Signalled {
		return
	}
	from, line := stderr, stderr.failureLine((*failure.Tail).Line)
	if line == "" && e.Cause == process.Exited {
		from, line = stdout, stdout.failureLine((*failure.Tail).ErrorLine)
	}
	if line == "" {
		return
	}
	o.Reason += ": " + line
	for _, folder := range folders { // Python names files by where they really are
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folders = append(folders, real)
		}
	}
	o.Frame = from.failureLine(func(t *failure.Tail) string { return t.Frame(folders...) })
}

// infraOutcome returns the outcome of an attempt that its host could not start.
func infraOutcome(errs ...error) task.Outcome {
	return task.Outcome{Class: task.Loss, Reason: "infra: " + errors.Join(errs...).Error()}
}

// removedOutput says that a program removed its folder, or the file of its output.
func removedOutput(dir string) error {
	output := logFile(dir, "stdout")
	if kept, err := exists(output); kept || err != nil {
		return nil
	}
	if kept, err := exists(dir); kept && err == nil {
		return errors.New("the program removed " + path.Base(output))
	}
	return errors.New("the program removed its folder")
}

// failWritten returns the outcome of an attempt that wrote to its project's snapshot.
func failWritten(o task.Outcome, err error) task.Outcome {
	o.Reason = joinReasons(o.Reason, err.Error())
	if o.Class == task.Success {
		o.Class = task.Error
	}
	return o
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// maxReason is how many characters a text about an attempt has at most. The master reads none that
// is much longer, and names of programs and files may be.
const maxReason = 600

// printable returns a text about an attempt as it is told: names of programs and files in it may
// hold control characters. Joined errors stand in one line. Of a text that is too long the middle
// is left out: it begins with what happened and ends with the cause.
func printable(text string) string {
	text = human.Visible(strings.ReplaceAll(text, "\n", "; "))
	if utf8.RuneCountInString(text) <= maxReason {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxReason/2]) + "…" + string(runes[len(runes)-maxReason/2+1:])
}

// makePrintable applies printable to the texts of an outcome.
func makePrintable(o *task.Outcome) {
	o.Reason, o.Frame = printable(o.Reason), printable(o.Frame)
	o.Stdout.Error, o.Stderr.Error = printable(o.Stdout.Error), printable(o.Stderr.Error)
	for i, text := range o.Unmeasured {
		o.Unmeasured[i] = printable(text)
	}
}
