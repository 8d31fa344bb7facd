// Package server is the host's side of package filesync, as handlers of HTTP: the releases of a
// root, and the outputs of tasks.
//
// The agent has them, and whoever fetches on one machine. Nothing outside of a root is read or
// written, whatever a request names, and nothing in a folder that has content and no marker, or
// another's.
package server

import (
	"errors"
	"net/http"
	"syscall"
	"time"

	"mlframework/infra/agent"
	"mlframework/projects"
)

// Options of Handle.
type Options struct {
	// Fail answers a request that failed.
	Fail func(http.ResponseWriter, error)
	// Idle is how long a client that holds the lock may be silent; 0 is 2 minutes.
	Idle time.Duration
}

// Handle has mux answer requests about files.
func Handle(mux *http.ServeMux, o Options) {
	if o.Idle <= 0 {
		o.Idle = 2 * time.Minute
	}
	for pattern, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /releases":    listRevisions,
		"DELETE /releases": prune,
		"PUT /releases/{revision}": func(w http.ResponseWriter, r *http.Request) error {
			return takeRelease(w, r, o.Idle)
		},
		"GET /releases/{revision}": sendRelease,
		"POST /outputs":            listOutputs,
		"POST /outputs/files":      sendOutputs,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := do(w, r); err != nil {
				o.Fail(w, asError(err))
			}
		})
	}
}

// maxBody bounds a body of JSON, in bytes.
const maxBody = 1 << 30

// asError is agent.AsError, with the file of a project that has changed, and with what helps on a
// full disk here.
func asError(err error) *agent.Error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &agent.Error{Text: err.Error() +
			": free some space there, or remove old revisions, and run it again"}
	}
	e := agent.AsError(err)
	if c, ok := errors.AsType[*projects.ChangedError](err); ok {
		e.Changed = []byte(c.Path)
	}
	return e
}
