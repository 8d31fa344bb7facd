// Package agent is how a laptop has things done on a host: by a program there, the agent, that
// speaks HTTP with JSON on its standard input and output, over one session of ssh.
//
// Start brings the program to the host where it is not there, starts it, and returns a Client. The
// handlers are package server, so that a client links none of them. Both ends are always of one
// build, as a program is found by the hash of its content: requests carry no version.
//
// Package infra, commands and tests may import it. It knows neither ssh nor Docker.
package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"syscall"
)

// MaxText bounds what a request or an answer holds of a file, in bytes.
const MaxText = 1 << 20

// Error is the agent's answer to a request that failed. Its text names the cause and, where there
// is one, the remedy.
type Error struct {
	Text string `json:"text"`
	// Holder is set when a lock is held: who has it, since when and what for, as they wrote it.
	Holder string `json:"holder,omitempty"`
	// Changed is set when a file of a project changed while it was sent: which one. It may be no
	// UTF-8.
	Changed []byte `json:"changed,omitempty"`
}

func (e *Error) Error() string { return e.Text }

// AsError returns an error as an answer, with what to do about it.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Text: err.Error()}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Text += ": free some space there"
	case errors.Is(err, fs.ErrPermission):
		e.Text += ": see that the user may write there"
	case errors.Is(err, syscall.EROFS):
		e.Text += ": the disk is mounted read-only"
	}
	return e
}

// ReadBody reads the body of a request, of at most so many bytes of JSON.
func ReadBody(r *http.Request, most int64, into any) error {
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	return nil
}

// LockRequest asks for the lock of a cluster's folder.
type LockRequest struct {
	File   string // absolute; it is made with the folder that it is in
	Holder string // one line for those who find it held
	Break  bool   // take it from its holder
}

// Folders is the folder of a cluster, the root, and those to be made in it.
type Folders struct {
	Root    string   `json:"root"`
	Owner   string   `json:"owner"`
	Cluster string   `json:"cluster"`
	Names   []string `json:"names"` // absolute, below Root
	UID     int      `json:"uid"`   // whom Names are given to; -1: the ssh user
	GID     int      `json:"gid"`
}

// PrivateFile is a file that only its owner may read.
type PrivateFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// PrivateFiles are files for one folder, which only its owner may enter.
type PrivateFiles struct {
	Root  string        `json:"root"`
	Dir   string        `json:"dir"` // absolute, below Root
	Files []PrivateFile `json:"files"`
	UID   int           `json:"uid"` // who gets the folder and all that is in it; -1: the ssh user
	GID   int           `json:"gid"`
}

// Text is a file of a root.
type Text struct {
	Root string `json:"root"`
	Name string `json:"name"` // relative to Root
	Data []byte `json:"data"` // nil: there is no such file
}

// AuditLine is a line for the audit.
type AuditLine struct {
	Root string `json:"root"`
	Line []byte `json:"line"`
}

// Token is a file in the home folder by which hosts that share it are found.
type Token struct {
	Name string `json:"name"`
}

// ProgramCopy asks for a copy of the agent's program.
type ProgramCopy struct {
	Root string `json:"root"`
	To   string `json:"to"` // absolute, below Root
}
