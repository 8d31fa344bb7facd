// Package cli is what the commands share: exit codes, options in any order, output for people and
// programs, signals.
//
// Only the packages below cmd may import it.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"mlframework/config"
	"mlframework/sweep/fault"
)

// The exit codes of every command.
const (
	OK          = 0
	Failed      = 1 // some task failed or was cancelled
	Usage       = 2 // the command line is wrong, or names what does not exist
	Invalid     = 3 // tasks.yml, parameters.yml or the configuration is wrong
	Unreachable = 4 // the master or a host cannot be reached
	// this machine or the program is at fault: disk full, folder not writable, store in use
	Machine     = 5
	TimeUp      = 124 // what was waited for did not happen in time
	Interrupted = 130 // by Ctrl-C
)

// ExitCodes is the text about them in the help of run-tasks.
const ExitCodes = `EXIT CODES:
   0    success: all tasks succeeded, or you detached from the sweep
   1    a task failed or was cancelled
   2    invalid command line, or no such sweep or task
   3    invalid tasks.yml, parameters file or cluster.yml
   4    the master or a host cannot be reached
   5    an error on this machine: disk full, folder not writable, store in use
   124  wait: the timeout expired before the sweeps ended
   130  interrupted
`

// Error is an error with the way out and the exit code that goes with it.
type Error struct {
	Code   int
	Err    error  // what is wrong; nil: everything was said already, only the code counts
	Remedy string // what to do; may be empty
}

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return fmt.Sprintf("exit code %d", e.Code)
	case e.Remedy == "":
		return e.Err.Error()
	}
	return e.Err.Error() + "\n  " + e.Remedy
}

func (e *Error) Unwrap() error { return e.Err }

// Code makes an error that only ends the command with a code.
func Code(code int) error {
	if code == OK {
		return nil
	}
	return &Error{Code: code}
}

// Wrong makes an error with code 2.
func Wrong(remedy, format string, args ...any) error {
	return &Error{Usage, fmt.Errorf(format, args...), remedy}
}

// Finish prints an error the way every command does, to w, and returns the exit code that goes with
// it. Faults at a line of a file begin with the place, as compilers write it, all else with the
// program's name.
func Finish(w io.Writer, program string, err error) int {
	if err == nil {
		return OK
	}
	if faults, ok := errors.AsType[fault.List](err); ok {
		for _, f := range faults {
			text := Visible(f.String())
			if f.Line == 0 {
				text = program + ": " + text
			}
			fmt.Fprintln(w, text)
		}
		if e, ok := errors.AsType[*Error](err); ok { // they are in arguments
			return e.Code
		}
		return Invalid
	}
	if u, ok := errors.AsType[*config.Usage](err); ok {
		fmt.Fprintf(w, "%s: %s\n", program, VisibleLines(u.Error()))
		return Usage
	}
	if m, ok := errors.AsType[*config.Missing](err); ok {
		fmt.Fprintf(w, "%s: %s\n", program, Visible(m.Error()))
		return Invalid
	}
	e, ok := errors.AsType[*Error](err)
	text := once(err.Error())
	if ok && e.Err == nil { // what was joined to a code is still to be said
		text = strings.TrimSpace(strings.Replace(text, e.Error(), "", 1))
	}
	if text != "" {
		fmt.Fprintf(w, "%s: %s\n", program, VisibleLines(text))
	}
	if ok {
		return e.Code
	}
	if remedy := remedyOf(err); remedy != "" {
		fmt.Fprintf(w, "  %s\n", remedy)
	}
	return Machine
}

// once leaves out parts that an earlier one contains: what fails for one cause repeats it. A part
// is a line with the indented lines below it.
func once(text string) string {
	var parts, kept []string
	for l := range strings.SplitSeq(text, "\n") {
		if len(parts) > 0 && strings.HasPrefix(l, " ") {
			parts[len(parts)-1] += "\n" + l
		} else {
			parts = append(parts, l)
		}
	}
	for _, p := range parts {
		contains := func(earlier string) bool { return strings.Contains(earlier, p) }
		if !slices.ContainsFunc(kept, contains) {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// remedyOf is the way out of errors of the machine.
func remedyOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space, then run `run-tasks resume`; accepted results are kept"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "check the permissions of the folder, and how its file system is mounted"
	}
	return ""
}
