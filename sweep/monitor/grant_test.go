package monitor_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"mlframework/sweep/monitor"
)

// The ids of two grants, and the port-less host that a link of the first leads to.
const (
	grantA    = "abcdefghijklmnop"
	grantB    = "ponmlkjihgfedcba"
	grantHost = "anna-digits-" + grantA + ".localhost"
)

// grant logs in with a link of a grant, and comes as host.
func (s *site) grant(id, host string) (v *visitor, as func(*http.Request)) {
	s.t.Helper()
	link, err := monitor.Grant(s.state(), id, "http://"+host+":5555/", monitor.Operator, s.clock())
	s.must(err)
	u, err := url.Parse(link)
	s.must(err)
	as = func(r *http.Request) {
		r.Host = host + ":5555"
		if r.Header.Get("Origin") != "" {
			r.Header.Set("Origin", "http://"+r.Host)
		}
	}
	v = s.visitor()
	if p := v.do(http.MethodPost, "/login", url.Values{"code": {u.Query().Get("code")}}.Encode(),
		as); p.status != http.StatusSeeOther {
		s.t.Fatalf("login: %d %s", p.status, p.text)
	}
	return v, as
}

func TestSessionsEndWithTheirGrant(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, host := range map[string]string{"a name of its own": grantHost,
		"127.0.0.1": "127.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			v, as := s.grant(grantA, host)
			other, asOther := s.grant(grantB, "127.0.0.1")
			linked := s.enter(monitor.Operator)
			if p := v.get("/sweeps", as); p.status != http.StatusOK {
				t.Fatalf("before: %d", p.status)
			}
			s.must(monitor.Revoke(s.state(), grantA))
			s.must(monitor.Revoke(s.state(), grantA)) // is done already
			if p := v.get("/sweeps"); p.status != http.StatusSeeOther {
				t.Errorf("after: %d", p.status)
			}
			if p := other.get("/sweeps", asOther); p.status != http.StatusOK {
				t.Errorf("the session of another grant: %d", p.status)
			}
			if p := linked.get("/sweeps"); p.status != http.StatusOK {
				t.Errorf("a session without a grant: %d", p.status)
			}
		})
	}
}

func TestALinkEndsWithItsGrant(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link, err := monitor.Grant(s.state(), grantA, s.url+"/", monitor.Operator, s.clock())
	s.must(err)
	s.must(monitor.Revoke(s.state(), grantA))
	u, err := url.Parse(link)
	s.must(err)
	if p := s.visitor().post("/login",
		url.Values{"code": {u.Query().Get("code")}}); p.status != http.StatusForbidden {
		t.Errorf("%d", p.status)
	}
}

// The Host list has the name of a grant while there is the grant, and no other of its domain.
func TestHostsOfGrants(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v, _ := s.grant(grantA, grantHost)
	status := func(host string) int {
		return v.get("/healthz", func(r *http.Request) { r.Host = host }).status
	}
	for host, want := range map[string]int{
		grantHost:                                 http.StatusOK,
		strings.ToUpper(grantHost) + ":1":         http.StatusOK,
		"evil-" + grantA + ".localhost":           http.StatusMisdirectedRequest,
		grantA + ".localhost":                     http.StatusMisdirectedRequest,
		"x." + grantHost:                          http.StatusMisdirectedRequest,
		grantHost + ".evil.example":               http.StatusMisdirectedRequest,
		"anna-digits-" + grantB + ".localhost":    http.StatusMisdirectedRequest,
		"anna-digits.localhost":                   http.StatusMisdirectedRequest,
		"a-../../token.localhost":                 http.StatusMisdirectedRequest,
		"anna-digits-" + grantA + ".evil.example": http.StatusMisdirectedRequest,
	} {
		if got := status(host); got != want {
			t.Errorf("%s: %d, want %d", host, got, want)
		}
	}
	s.must(monitor.Revoke(s.state(), grantA))
	if got := status(grantHost); got != http.StatusMisdirectedRequest {
		t.Errorf("after the grant: %d", got)
	}
}

func TestGrantsHaveAnID(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const remedy = "write 16 to 64 lower-case letters and digits"
	for _, id := range []string{"", "short", "../token", strings.Repeat("a", 65),
		"ABCDEFGHIJKLMNOP"} {
		_, err := monitor.Grant(s.state(), id, s.url, monitor.Operator, time.Now())
		if err == nil || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%q: %v", id, err)
		}
		if err := monitor.Revoke(s.state(), id); err == nil ||
			!strings.Contains(err.Error(), remedy) {
			t.Errorf("%q is revoked: %v", id, err)
		}
	}
	for _, base := range []string{"", "ftp://x/", "http://[::1/"} {
		_, err := monitor.Grant(s.state(), grantA, base, monitor.Operator, time.Now())
		if err == nil || !strings.Contains(err.Error(), "is not the address of a monitor") {
			t.Errorf("%q: %v", base, err)
		}
	}
	_, err := monitor.Grant(t.TempDir(), grantA, s.url+"/", monitor.Operator, time.Now())
	if err == nil || !strings.Contains(err.Error(), "of a monitor that was started") {
		t.Errorf("without a monitor: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(s.state(), "grants")); err != nil || len(left) > 0 {
		t.Errorf("left of what did not work out: %v %v", left, err)
	}
}

// Grants that nobody revoked go when the sessions that they could have are over.
func TestOldGrantsGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v, as := s.grant(grantA, grantHost)
	at := time.Now().Add(monitor.SessionLife + time.Hour)
	if _, err := monitor.Grant(s.state(), grantB, s.url, monitor.Operator, at); err != nil {
		t.Fatal(err)
	}
	if p := v.get("/healthz", as); p.status != http.StatusMisdirectedRequest {
		t.Errorf("%d", p.status)
	}
}

// A real browser resolves the name, and keeps the cookie to it.
func TestABrowserComesByTheNameOfAGrant(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.url = strings.Replace(s.url, "127.0.0.1", grantHost, 1)
	b := s.open()
	link, err := monitor.Grant(s.state(), grantA, s.url+"/", monitor.Operator, time.Now())
	s.must(err)
	b.run(chromedp.Navigate(link))
	b.act("button.main", "click")
	b.sees("Sweeps")
	if at := js[string](b, "location.host"); !strings.HasPrefix(at, grantHost+":") {
		t.Errorf("the browser is at %s", at)
	}
	s.must(monitor.Revoke(s.state(), grantA))
	b.expect(grantHost) // that it was refused
	b.visit("/sweeps")
	b.sees("unknown host")
}
