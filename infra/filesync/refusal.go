package filesync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"mlframework/projects"
)

// A Code is why a host refuses.
type Code string

// The reasons of refusals.
const (
	OtherVersion Code = "version"   // the two ends are of different releases
	Unmarked     Code = "unmarked"  // the root is not ours: it has content and no marker, or may not be used at all
	OtherOwner   Code = "owner"     // the root is another cluster's, or another person's
	Locked       Code = "locked"    // somebody else is pushing or pruning
	NoSpace      Code = "space"     // the disk is full, or the user's share of it
	Changed      Code = "changed"   // a file changed while it was sent
	Absent       Code = "absent"    // what was asked for is not there
	Malformed    Code = "malformed" // a message makes no sense, or asks for what it must not
	Failed       Code = "failed"    // anything else: Text says what
)

// A Refusal is the far side's no. Its text names the cause, and the remedy where there is one.
type Refusal struct {
	Code    Code   `json:"code"`
	Text    string `json:"text"`
	Owner   string `json:"owner,omitempty"`   // OtherOwner: whose it is
	Cluster string `json:"cluster,omitempty"` // OtherOwner: and of which cluster
	Holder  Holder `json:"holder,omitzero"`   // Locked
	Path    []byte `json:"path,omitempty"`    // Changed: which file, in the project; bytes, as it may not be UTF-8
}

func (r *Refusal) Error() string { return r.Text }

// refuse makes a refusal.
func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// asRefusal puts any error of the far side into the form that travels.
func asRefusal(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	if c, ok := errors.AsType[*projects.ChangedError](err); ok {
		return &Refusal{Code: Changed, Text: c.Error(), Path: []byte(c.Path)}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return refuse(NoSpace, "%v: free some space there, or remove old revisions, and run it again", err)
	case errors.Is(err, context.Canceled):
		return refuse(Failed, "the program on the host was stopped")
	case errors.Is(err, fs.ErrPermission):
		return refuse(Failed, "%v: see that the user may write there", err)
	}
	return refuse(Failed, "%v", err)
}

// A LargeError asks for a person's word before a project of this size is sent.
type LargeError struct {
	Files   int              // files and links
	Bytes   int64            //
	Largest []projects.Entry // the largest files, largest first, at most five
}

func (e *LargeError) Error() string {
	var largest []string
	for _, f := range e.Largest {
		largest = append(largest, fmt.Sprintf("%q (%.1f MB)", f.Path, float64(f.Size)/1e6))
	}
	return fmt.Sprintf("the project has %d files with %.1f MB; the largest are %s: leave out what programs do not need with lines in .mlframeworkignore, or confirm with --yes",
		e.Files, float64(e.Bytes)/1e6, strings.Join(largest, ", "))
}
