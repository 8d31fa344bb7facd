package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"syscall"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
)

// Error is a refusal: what the API answers instead of doing what was asked, and what a Client returns then.
type Error struct {
	Status    int    `json:"-"` // of HTTP
	Text      string `json:"error"`
	Remedy    string `json:"remedy,omitempty"`
	Parameter string `json:"parameter,omitempty"` // the parameter or field that is wrong
	Column    int    `json:"column,omitempty"`    // where in it, in characters from 1; 0: not known

	body []byte // of the answer, for who knows more of it
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Text
	}
	return e.Text + "; " + e.Remedy
}

// SecretsField is the Parameter of a refusal for want of the values of secrets.
const SecretsField = "secrets"

// wrong is a request that is refused for what it says.
func wrong(parameter, text string) *Error {
	return &Error{Status: http.StatusBadRequest, Text: text, Parameter: parameter}
}

// problem is an error as a client is told of it.
func problem(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Status: http.StatusInternalServerError, Text: err.Error()}
	if unknown, ok := errors.AsType[*store.UnknownSweep](err); ok {
		if e.Status = http.StatusNotFound; unknown.ID != "" {
			e.Remedy = "run-tasks ls lists them"
		}
	} else if _, ok := errors.AsType[*core.UnknownTask](err); ok {
		e.Status = http.StatusNotFound
	} else if _, ok := errors.AsType[*core.UnknownWorker](err); ok {
		e.Status, e.Remedy = http.StatusNotFound, "run-tasks workers lists them"
	} else if _, ok := errors.AsType[*master.UnknownLetter](err); ok {
		e.Status, e.Remedy = http.StatusNotFound, "run-tasks broker dead lists them"
	} else if none, ok := errors.AsType[*core.NoSecrets](err); ok {
		e.Status, e.Parameter = http.StatusConflict, SecretsField
		if none.Gone {
			e.Remedy = "they are taken from where the sweep is let go on: export " + none.Names[0] + "=... there"
		}
	} else if _, ok := errors.AsType[*core.WorkerUnreachable](err); ok {
		e.Status, e.Remedy = http.StatusServiceUnavailable, "run-tasks workers shows when it is back"
	} else if _, ok := errors.AsType[*core.NoWorker](err); ok {
		e.Status = http.StatusConflict
	} else if state, ok := errors.AsType[*core.WrongState](err); ok {
		e.Status, e.Text, e.Remedy = http.StatusConflict, state.ID+" is "+state.Is, state.Remedy
	} else if errors.Is(err, core.ErrEnviron) {
		e.Status, e.Parameter = http.StatusConflict, "environ"
	} else if errors.Is(err, syscall.ENOSPC) {
		e.Status, e.Remedy = http.StatusServiceUnavailable, "free some space on the master's machine, and start the master again"
	} else if errors.Is(err, master.ErrStopped) || errors.Is(err, queue.ErrAway) || errors.Is(err, context.DeadlineExceeded) {
		e.Status = http.StatusServiceUnavailable
	}
	return e
}

func refuse(w http.ResponseWriter, err error) {
	e := problem(err)
	answer(w, cmp.Or(e.Status, http.StatusInternalServerError), e)
}

// answer writes JSON. An error of writing is that the client went away.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	_ = lines.Encode(v)
}
