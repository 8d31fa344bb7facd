package monitor

import (
	"errors"
	"net/http"
)

// Role is what a logged-in user may do. The zero value is Nobody.
type Role int

// The roles, each may do what the ones before it may.
const (
	Nobody   Role = iota
	Viewer        // reads
	Operator      // acts, too: cancels, pauses, resumes, retries, drains
)

func (r Role) String() string { return [...]string{"nobody", "viewer", "operator"}[r] }

// request is a request that has passed the guard.
type request struct {
	*http.Request
	session *session // nil: nobody is logged in
	version int64    // that its answers are as new as; 0: they may be a moment old
}

func (r *request) role() Role {
	if r.session == nil {
		return Nobody
	}
	return r.session.role
}

// admit refuses requests that the session may not make.
func (m *Monitor) admit(w http.ResponseWriter, r *request, route route) error {
	if route.method != http.MethodGet {
		if err := m.admitWrite(w, r); err != nil {
			return err
		}
	}
	switch {
	case r.role() >= route.needs:
		return nil
	case r.role() == Nobody:
		return errNotLoggedIn
	}
	return &fault{status: http.StatusForbidden,
		Text:   "Only operators can do this; you are logged in as a " + r.role().String() + ".",
		Remedy: "Log in with the token, or with an operator's link."}
}

// admitWrite refuses a write that a page of this monitor did not send.
func (m *Monitor) admitWrite(w http.ResponseWriter, r *request) error {
	if m.origins.Check(r.Request) != nil {
		return &fault{status: http.StatusForbidden,
			Text: "This did not come from a page of this monitor.",
			Remedy: "Open the monitor and do it there. A proxy has to pass on Host as the " +
				"browser sent it."}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	if err := r.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return &fault{status: http.StatusRequestEntityTooLarge,
				Text: "That is too much for a form."}
		}
		return &fault{status: http.StatusBadRequest, Text: "The form cannot be read."}
	}
	return nil
}
