package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
)

// request is a request that has passed the guard.
type request struct {
	*http.Request
	session *session // nil: nobody is logged in
}

func (r *request) role() Role {
	if r.session == nil {
		return Nobody
	}
	return r.session.role
}

// allowed returns the list of hosts: those of this machine, and what was named.
func allowed(named []string) map[string]bool {
	hosts := map[string]bool{}
	for _, h := range append([]string{"127.0.0.1", "localhost", "::1"}, named...) {
		hosts[strings.ToLower(strings.Trim(h, "[]"))] = true
	}
	return hosts
}

// hostOnly returns what a Host header says without the port, in lower case.
func hostOnly(host string) string {
	return strings.ToLower((&url.URL{Host: host}).Hostname())
}

// policy lets a page load what this monitor has and nothing else, run no script that stands in a
// page, and stand in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Bounds of a write, and how long an answer other than a live stream may take.
const (
	maxBodyBytes  = 16 << 10
	answerTimeout = 45 * time.Second
)

// ServeHTTP implements http.Handler.
func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &responseRecorder{ResponseWriter: w}
	defer m.recover(out, r)
	// a recorder of tests has none
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	for name, value := range map[string]string{
		"Content-Security-Policy": policy,
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
		// with no-referrer, browsers send the Origin "null" with forms
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		w.Header().Set(name, value)
	}
	if !m.hosts[hostOnly(r.Host)] {
		_ = plain(out, http.StatusMisdirectedRequest,
			"this host is none of the monitor's names; whoever starts it lists them with --host")
		return
	}
	m.mux.ServeHTTP(out, r)
}

// guarded returns the handler of a route, which checks the session and, of a write, its origin.
func (m *Monitor) guarded(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r := &request{Request: hr, session: m.sessions.find(m.cookie(hr, sessionCookie))}
		if r.session != nil {
			r.Request = hr.WithContext(context.WithValue(hr.Context(), slotsKey{}, r.session.slots))
		}
		err := m.admit(w, r, route)
		if err == nil {
			err = route.do(m, w, r)
		}
		if err != nil {
			m.fail(w, r, err)
		}
	})
}

// admit refuses what may not be asked.
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
		Text: "This takes the role " + route.needs.String() + ", and you are " + r.role().String() +
			".",
		Remedy: "Log in with the other token."}
}

// admitWrite refuses a write that a page of this monitor did not send.
func (m *Monitor) admitWrite(w http.ResponseWriter, r *request) error {
	if !sameOrigin(r.Request) {
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
	if want := m.csrf(r); want == "" || !equalSecrets(r.PostForm.Get("csrf"), want) {
		return &fault{status: http.StatusForbidden,
			Text:   "The page that this came from is too old.",
			Remedy: "Go back, load it again, and repeat it."}
	}
	return nil
}

// sameOrigin reports whether a browser sent this from a page of the host that it was sent to. A
// browser always says where a write comes from; the scheme is not compared, as a proxy may have
// taken the TLS off.
func sameOrigin(r *http.Request) bool {
	from, origin, ok := strings.Cut(r.Header.Get("Origin"), "://")
	if !ok || from != "http" && from != "https" || r.Host == "" {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return strings.EqualFold(origin, r.Host) && (site == "" || site == "same-origin")
}

// recover makes a panic of one request its answer.
func (m *Monitor) recover(w *responseRecorder, r *http.Request) {
	value := recover()
	switch {
	case value == nil:
		return
	case value == http.ErrAbortHandler:
		panic(value)
	}
	m.o.Log.Error("fault in the monitor; it goes on", "method", r.Method, "path", r.URL.Path,
		"fault", value, "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	_ = plain(w, http.StatusInternalServerError, "fault in the monitor; its log has the place")
}

// responseRecorder records whether the header was written.
type responseRecorder struct {
	http.ResponseWriter
	begun bool
}

// Unwrap lets http.ResponseController find what can flush.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseRecorder) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseRecorder) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// plain answers with a line of text. An error of writing is that the browser went away.
func plain(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text)
	return nil
}
