package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
)

// apiError returns an error as clients get it, with its status.
func apiError(err error) *api.Error {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e
	}
	e := &api.Error{Status: http.StatusInternalServerError, Text: err.Error()}
	if unknown, ok := errors.AsType[*store.UnknownSweep](err); ok {
		if e.Status = http.StatusNotFound; unknown.ID != "" {
			e.Remedy = "run-tasks ls lists them"
		}
	} else if _, ok := errors.AsType[*core.UnknownTask](err); ok {
		e.Status = http.StatusNotFound
	} else if _, ok := errors.AsType[*core.UnknownWorker](err); ok {
		e.Status, e.Remedy = http.StatusNotFound, "run-tasks workers lists them"
	} else if none, ok := errors.AsType[*core.NoSecrets](err); ok {
		e.Status, e.Parameter = http.StatusConflict, api.SecretsField
		if none.Gone {
			e.Remedy = "they are taken from where the sweep is let go on: export " + none.Names[0] +
				"=... there"
		}
	} else if _, ok := errors.AsType[*core.WorkerUnreachable](err); ok {
		e.Status, e.Remedy = http.StatusServiceUnavailable,
			"run-tasks workers shows when it is back"
	} else if _, ok := errors.AsType[*core.NoWorker](err); ok {
		e.Status = http.StatusConflict
	} else if state, ok := errors.AsType[*core.WrongState](err); ok {
		e.Status, e.Text, e.Remedy = http.StatusConflict, state.Cause(), state.Remedy
	} else if never, ok := errors.AsType[*core.NeverFits](err); ok {
		e.Status, e.Remedy = http.StatusConflict, never.Remedy()
		e.Parameter = api.NeedsParameter
	} else if errors.Is(err, master.ErrKeyUsed) {
		e.Status, e.Remedy = http.StatusConflict, "use a new key for each request"
	} else if errors.Is(err, core.ErrNotifyCommand) {
		return api.Wrong("record.notify", err.Error())
	} else if errors.Is(err, core.ErrEnviron) {
		e.Status, e.Parameter = http.StatusConflict, "environ"
	} else if errors.Is(err, syscall.ENOSPC) {
		e.Status, e.Remedy = http.StatusServiceUnavailable,
			"free some space on the master's machine, and start the master again"
	} else if errors.Is(err, master.ErrStopped) || errors.Is(err, queue.ErrUnreachable) ||
		errors.Is(err, context.DeadlineExceeded) {
		e.Status = http.StatusServiceUnavailable
	}
	return e
}

// writeError writes an error with its status.
func writeError(w http.ResponseWriter, err error) {
	e := apiError(err)
	writeJSON(w, cmp.Or(e.Status, http.StatusInternalServerError), e)
}

// writeJSON writes an answer, or why there is none. Errors of writing are ignored: the client has
// gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	lines := json.NewEncoder(&body)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(v); err != nil {
		writeError(w, fmt.Errorf("write the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}
