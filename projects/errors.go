package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// A Fault says why a file cannot be part of a project.
type Fault string

// The faults of files.
const (
	Unreadable    Fault = "unreadable"     // Detail is empty, Err the cause
	LeavesProject Fault = "leaves project" // a symbolic link; Detail is its target
	NotAFile      Fault = "not a file"     // a socket, pipe or device; Detail says which
	Sparse        Fault = "sparse"         // a very large file with almost no data; Detail is its size
)

// A FileError refuses one file or folder of a project. Its text names the cause and the remedy.
type FileError struct {
	Path   string // in the project, slash separated
	Fault  Fault
	Detail string
	Err    error // nil unless Fault is Unreadable
}

func (e *FileError) Error() string {
	path, line := shown(e.Path), shown(ignoreLine(e.Path))
	leave := "leave it out with a line " + line + " in " + ownRules
	name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
	switch {
	case e.Fault == LeavesProject:
		return fmt.Sprintf("link %s leads out of the project, to %s: %s, and give the program its "+
			"target's own path", path, shown(e.Detail), leave)
	case e.Fault == NotAFile:
		return fmt.Sprintf("%s is a %s, not a file, folder or link: %s", path, e.Detail, leave)
	case e.Fault == Sparse:
		return fmt.Sprintf("%s has %s, almost all of them holes, which would take minutes to read: %s",
			path, e.Detail, leave)
	case name == gitRules || name == ownRules:
		return fmt.Sprintf("read the rules in %s: %s: make it readable", path, cause(e.Err))
	}
	return fmt.Sprintf("read %s: %s: make it readable, or %s", path, cause(e.Err), leave)
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A ChangedError says that a file was edited, replaced or removed while it was read. Scanning again
// helps, unless something writes to it all the time.
type ChangedError struct {
	Path string // in the project, slash separated
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed while it was read: try again when nothing writes to it, or "+
		"leave it out with a line %s in %s", shown(e.Path), shown(ignoreLine(e.Path)), ownRules)
}

// A FolderError says that there is no project at Dir: nothing (Err is fs.ErrNotExist), no folder
// (syscall.ENOTDIR), or one that cannot be opened.
type FolderError struct {
	Dir string
	Err error
}

func (e *FolderError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("open project %s: there is no such folder", shown(e.Dir))
	}
	if errors.Is(e.Err, syscall.ENOTDIR) {
		return fmt.Sprintf("open project %s: it is not a folder: name the folder that holds "+
			"tasks.yml", shown(e.Dir))
	}
	return fmt.Sprintf("open project %s: %s", shown(e.Dir), cause(e.Err))
}

// Unwrap gives the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// A ScanError holds everything that is wrong with a project's files, sorted by path; errors.As
// finds each.
type ScanError struct {
	Dir   string
	Files []error // *FileError and *ChangedError
}

// shownFaults bounds the text of a ScanError: a copied environment can hold thousands of absolute
// links.
const shownFaults = 20

func (e *ScanError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read project %s:", shown(e.Dir))
	for _, err := range e.Files[:min(len(e.Files), shownFaults)] {
		b.WriteString("\n  " + err.Error())
	}
	if more := len(e.Files) - shownFaults; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// Unwrap gives every file's error.
func (e *ScanError) Unwrap() []error { return e.Files }

// A SpaceError says that a disk is full, or the user's share of it.
type SpaceError struct {
	Dir  string // where the space is lacking
	Need int64  // bytes that the snapshot takes in all
	Err  error
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("snapshot in %s: %s: it takes %.1f MB; free some space there and run it "+
		"again", shown(e.Dir), cause(e.Err), float64(e.Need)/1e6)
}

// Unwrap gives the cause.
func (e *SpaceError) Unwrap() error { return e.Err }

// sortFaults sorts by path.
func sortFaults(faults []error) {
	slices.SortStableFunc(faults, func(a, b error) int {
		return strings.Compare(faultPath(a), faultPath(b))
	})
}

func faultPath(err error) string {
	if e, ok := errors.AsType[*FileError](err); ok {
		return e.Path
	}
	if e, ok := errors.AsType[*ChangedError](err); ok {
		return e.Path
	}
	return ""
}

// cause is an error's text without the operation and path that package os puts before it.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// shown is text as it is when it is plain, else quoted, so that no file name breaks a line or a
// terminal.
func shown(text string) string {
	quoted := strconv.Quote(text)
	if !utf8.ValidString(text) || quoted[1:len(quoted)-1] != text || text == "" ||
		strings.Contains(text, " ") {
		return quoted
	}
	return text
}
