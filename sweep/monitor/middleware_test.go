package monitor_test

import (
	"net/http"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// fill makes a path of a route's.
func fill(path string) string {
	return strings.NewReplacer("{sweep}", "train-1", "{index}", "0", "{name}", "monitor.css", "{$}",
		"", "{worker}", "w1", "{action}", "bananas").Replace(path)
}

// status reads the beginning of an answer only: a live stream has no end.
func (v *visitor) status(method, path string, change ...func(*http.Request)) (int, http.Header) {
	v.s.t.Helper()
	r, err := http.NewRequestWithContext(v.s.t.Context(), method, v.s.url+path, nil)
	v.s.must(err)
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://"+r.URL.Host)
	}
	for _, c := range change {
		c(r)
	}
	answer, err := v.http.Do(r)
	v.s.must(err)
	_ = answer.Body.Close()
	return answer.StatusCode, answer.Header
}

// Every route is asked by nobody, the weaker and the stronger role, and from where it must not be.
func TestEveryRouteIsGuarded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.submit("i: 1\n")
	nobody, viewer := s.visitor(), s.enter(monitor.Viewer)
	for _, r := range monitor.Routes() {
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			path := fill(r.Path)
			part := strings.HasPrefix(path, "/live/")
			status, h := nobody.status(r.Method, path)
			switch {
			case r.Method != http.MethodGet && status != http.StatusForbidden &&
				status != http.StatusUnauthorized:
				t.Errorf("nobody wrote: %d", status)
			case r.Method == http.MethodGet && r.Needs == monitor.Nobody && status != http.StatusOK:
				t.Errorf("nobody: %d", status)
			case r.Method == http.MethodGet && r.Needs > monitor.Nobody && part &&
				status != http.StatusUnauthorized:
				t.Errorf("nobody: %d", status)
			case r.Method == http.MethodGet && r.Needs > monitor.Nobody && !part &&
				(status != http.StatusSeeOther ||
					!strings.HasPrefix(h.Get("Location"), "/login?next=")):
				t.Errorf("nobody: %d %s", status, h.Get("Location"))
			}
			operator := s.enter(monitor.Operator)
			for _, v := range []*visitor{viewer, operator} {
				if r.Method != http.MethodGet || path == "/login" {
					continue
				}
				want := http.StatusOK
				if strings.HasSuffix(path, "/output") { // of a task that has not begun
					want = http.StatusNotFound
				}
				if strings.HasSuffix(path, "/compare") && !part { // of no tasks
					want = http.StatusBadRequest
				}
				switch {
				case r.Needs == monitor.Operator && v == operator: // there is no such action
					want = http.StatusNotFound
				case r.Needs == monitor.Operator:
					want = http.StatusForbidden
				}
				if status, _ := v.status(r.Method, path); status != want {
					t.Errorf("who is logged in: %d", status)
				}
			}
			for _, host := range []string{"evil.example", "evil.example:5555",
				"127.0.0.1.evil.example", "2130706433"} {
				if status, _ := viewer.status(r.Method, path, func(r *http.Request) {
					r.Host = host
				}); status != http.StatusMisdirectedRequest {
					t.Errorf("host %q: %d", host, status)
				}
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
				"Access-Control-Allow-Origin": ""} {
				if h.Get(name) != want {
					t.Errorf("%s is %q", name, h.Get(name))
				}
			}
			if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy,
				"default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
				strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
			if r.Method != http.MethodGet {
				s.guardsWrites(t, path)
			}
		})
	}
	if status, _ := viewer.status(http.MethodGet, "/login", func(r *http.Request) {
		r.Host = "LOCALHOST:9"
	}); status != http.StatusOK {
		t.Errorf("localhost: %d", status)
	}
	if status, _ := viewer.status(http.MethodGet, "/healthz", func(r *http.Request) {
		r.Host = "[::1]:5555"
	}); status != http.StatusOK {
		t.Errorf("::1: %d", status)
	}
}

// guardsWrites sends to a route what only its status tells from a right write.
func (s *site) guardsWrites(t *testing.T, path string) {
	v := s.enter(monitor.Viewer)
	host := strings.TrimPrefix(s.url, "http://")
	origin := func(o string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Origin", o)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"Origin null":        origin("null"),
		"another site":       origin("http://evil.example"),
		"another port":       origin("http://127.0.0.1:1"),
		"a site like this":   origin("http://" + host + ".evil.example"),
		"a port of this one": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"fetched by another": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		},
	} {
		if p := v.do(http.MethodPost, path, "token=guess",
			change); p.status != http.StatusForbidden ||
			!strings.Contains(p.text, "did not come from a page") {
			t.Errorf("%s: %d", name, p.status)
		}
	}
	if p := v.do(http.MethodPost, path,
		"x="+strings.Repeat("x",
			monitor.BodyBytes)); p.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too much: %d", p.status)
	}
	if p := v.do(http.MethodPost, path, "%zz"); p.status != http.StatusBadRequest {
		t.Errorf("no form: %d", p.status)
	}
	if p := v.get("/sweeps"); p.status != http.StatusOK {
		t.Errorf("a refused write logged somebody out: %d", p.status)
	}
}

func TestNothingElseIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Operator)
	for _, c := range []struct{ method, path string }{{"GET", "/banana"}, {"GET", "/assets/none"},
		{"GET", "/assets/..%2fmonitor.go"}, {"POST", "/sweeps"}, {"DELETE", "/sweeps/train-1"},
		{"GET", "/logout"}, {"OPTIONS", "/sweeps"}} {
		if status, h := v.status(c.method, c.path); status != http.StatusNotFound ||
			h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: %d", c, status)
		}
	}
	if p := v.get("/assets/live.js"); p.header.Get(
		"Content-Type") != "text/javascript; charset=utf-8" ||
		p.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", p.header)
	}
}

func TestNamesOfHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *monitor.Options) { o.Hosts = []string{"Monitor.Lab"} })
	v := s.visitor()
	for host, want := range map[string]int{"monitor.lab": 200, "monitor.lab:8443": 200,
		"127.0.0.1": 200, "lab": 421, "x.monitor.lab": 421,
		"lab.localhost": 200, "LAB.localhost:1": 200, "lab.localhost.evil.example": 421,
		"x.lab.localhost": 421, "other.localhost": 421} {
		if status, _ := v.status("GET", "/login", func(r *http.Request) {
			r.Host = host
		}); status != want {
			t.Errorf("%s: %d", host, status)
		}
	}
}

func TestAPanicEndsOneRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.monitor.Panic("/panic")
	v := s.enter(monitor.Viewer)
	if p := v.get("/panic"); p.status != http.StatusInternalServerError ||
		strings.Contains(p.text, "on purpose") {
		t.Errorf("%d %s", p.status, p.text)
	}
	if p := v.get("/sweeps"); p.status != http.StatusOK ||
		!strings.Contains(s.log.String(), "on purpose") {
		t.Errorf("%d, and the log has %s", p.status, s.log)
	}
}
