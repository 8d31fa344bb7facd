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
	Unmarked   Code = "unmarked"  // the root has content and no marker, or must not be used
	OtherOwner Code = "owner"     // the root is another cluster's, or another person's
	Locked     Code = "locked"    // somebody else is pushing or pruning
	NoSpace    Code = "space"     // the disk is full, or the user's share of it
	Changed    Code = "changed"   // a file changed while it was sent
	Absent     Code = "absent"    // what was asked for is not there
	Malformed  Code = "malformed" // a message makes no sense, or asks for what it must not
	Failed     Code = "failed"    // anything else: Text says what
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

// A LargeError asks for a person's word before so much is sent.
type LargeError struct {
	Files   int           // that are new to the host
	Bytes   int64         // in them
	Folders []LargeFolder // with the most of them, at most three
}

// LargeFolder is a folder of a project, up to two names deep, with all that is new in it.
type LargeFolder struct {
	Path  string // "." is the project's own
	Files int
	Bytes int64
}

func (e *LargeError) Error() string {
	var folders []string
	for _, f := range e.Folders {
		folders = append(folders, fmt.Sprintf("%q (%d files, %.1f MB)", f.Path, f.Files,
			float64(f.Bytes)/1e6))
	}
	return fmt.Sprintf("%d files with %.1f MB are new to the hosts; most are in %s", e.Files,
		float64(e.Bytes)/1e6, strings.Join(folders, ", "))
}
