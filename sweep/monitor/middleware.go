package monitor

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"mlframework/sweep/internal/httpserver"
)

// allowed returns the names of hosts that are accepted: those of this machine, and named ones.
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

// clusterShape is a name that may stand in a host and in the name of a cookie.
var clusterShape = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// localDomain is the domain whose names are all the machine's own (RFC 6761).
const localDomain = ".localhost"

// isLoopback reports whether a host is the browser's own machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, localDomain) || ip != nil &&
		ip.IsLoopback()
}

// strictTransport has browsers come to a host with TLS alone, for as long as a session may last.
// It is for all ports of the host: 127.0.0.1 and localhost, which other programs are reached by,
// get none.
var strictTransport = fmt.Sprintf("max-age=%d", int(sessionMaxAge.Seconds()))

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
	out := &httpserver.Recorder{ResponseWriter: w}
	defer out.Recover(m.o.Log, "the monitor", r, func(any) {
		_ = plain(out, http.StatusInternalServerError,
			"fault in the monitor; its log has the place")
	})
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
	host := hostOnly(r.Host)
	if m.o.Secure && !isLoopback(host) {
		w.Header().Set("Strict-Transport-Security", strictTransport)
	}
	if !m.hosts[host] {
		_ = plain(out, http.StatusMisdirectedRequest,
			"unknown host: start the monitor with --host for each name that browsers use")
		return
	}
	m.mux.ServeHTTP(out, r)
}

// guarded returns the handler of a route, which checks the session and, of a write, its origin.
func (m *Monitor) guarded(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r := &request{Request: hr, session: m.sessions.find(m.sessionID(hr))}
		err := m.admit(w, r, route)
		if err == nil {
			err = route.do(m, w, r)
		}
		if err != nil {
			m.fail(w, r, err)
		}
	})
}

// plain answers with a line of text. An error of writing is that the browser went away.
func plain(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text)
	return nil
}
