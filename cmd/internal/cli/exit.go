// Package cli is what the commands share: exit codes, options in any order, output for people and programs, signals.
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
	Failed      = 1   // some task failed or was cancelled
	Usage       = 2   // the command line is wrong, or names what does not exist
	Invalid     = 3   // tasks.yml, parameters.yml or the configuration is wrong
	Unreachable = 4   // the master or a host cannot be reached
	Machine     = 5   // this machine or the program is at fault: disk full, folder not writable, store in use
	Interrupted = 130 // by Ctrl-C
)

// ExitCodes is the text about them in every command's help.
const ExitCodes = `EXIT CODES:
   0    all tasks succeeded, or you detached, or the question was answered
   1    some task failed or was cancelled
   2    the command line is wrong, or names a task or sweep that does not exist
   3    tasks.yml or the parameters file is wrong
   4    what runs the sweep cannot be reached
   5    this machine is at fault: disk full, folder not writable, store in use
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

// Finish prints an error the way every command does, to w, and returns the exit code that goes with it.
func Finish(w io.Writer, program string, err error) int {
	if err == nil {
		return OK
	}
	if faults, ok := errors.AsType[fault.List](err); ok {
		for _, f := range faults {
			fmt.Fprintln(w, Visible(f.String()))
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

// once leaves out lines that an earlier one contains: parts that fail for one cause repeat it.
func once(text string) string {
	var kept []string
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if !slices.ContainsFunc(kept, func(earlier string) bool { return strings.Contains(earlier, l) }) {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// remedyOf is the way out of errors of the machine.
func remedyOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space; what was accepted is kept, `run-tasks resume` goes on"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "the file system or the folder does not let this user write: look at its mode and mount"
	}
	return ""
}
