package monitor_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/monitor"
)

// tries a token.
func (v *visitor) tries(token string) page {
	return v.post("/login", url.Values{"token": {token}})
}

func TestLoginWithTheToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *monitor.Options) { o.LinkCommand = "run-tasks monitor" })
	v := s.visitor()
	has(t, v.get("/login"), "<code>run-tasks monitor</code> prints a link")
	if p := v.tries("guess"); p.status != http.StatusForbidden ||
		!strings.Contains(p.text, "That is not the token.") {
		t.Errorf("%d %s", p.status, p.text)
	}
	p := v.post("/login",
		url.Values{"token": {" " + s.token() + "\n"}, "next": {"/workers"}})
	if p.status != http.StatusSeeOther || p.header.Get("Location") != "/workers" {
		t.Errorf("%d %v", p.status, p.header)
	}
	var session string
	for _, c := range p.header.Values("Set-Cookie") {
		if strings.HasPrefix(c, "monitor-") {
			session = c
		}
	}
	if !strings.Contains(session, "HttpOnly") ||
		!strings.Contains(session, "SameSite=Strict") || !strings.Contains(session, "Path=/") ||
		strings.Contains(session, s.token()) {
		t.Errorf("cookie %q", session)
	}
	has(t, v.get("/workers"), `class="role">operator<`)
	if p := v.get("/login"); p.status != http.StatusSeeOther {
		t.Errorf("login again: %d", p.status)
	}
	if p := v.post("/logout", url.Values{}); p.status != http.StatusSeeOther {
		t.Errorf("logout: %d", p.status)
	}
	if p := v.get("/workers"); p.status != http.StatusSeeOther {
		t.Errorf("after the logout: %d", p.status)
	}
	if log := s.log.String(); !strings.Contains(log, "wrong login") ||
		strings.Contains(log, s.token()) || strings.Contains(log, "guess") {
		t.Errorf("log: %s", log)
	}
}

func TestWhereALoginLeads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for next, want := range map[string]string{"/tasks?where=i%3D1": "/tasks?where=i%3D1",
		"": "/", "//evil.example": "/", "https://evil.example": "/",
		`/\evil.example`: "/", "/\t/evil.example": "/"} {
		v := s.visitor()
		if p := v.post("/login", url.Values{"token": {s.token()},
			"next": {next}}); p.header.Get("Location") != want {
			t.Errorf("%q leads to %q", next, p.header.Get("Location"))
		}
	}
}

func TestALinkWorksOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link, err := monitor.Link(s.state(), s.url+"/", monitor.Operator, "anna", time.Now())
	s.must(err)
	u, err := url.Parse(link)
	s.must(err)
	code := url.Values{"code": {u.Query().Get("code")}}
	for range 3 { // what fetches links to look at them
		has(t, s.visitor().get(u.RequestURI()), "Open the monitor")
	}
	var in atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		v := s.visitor()
		all.Go(func() {
			if v.post("/login", code).status == http.StatusSeeOther {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d came in with one link", in.Load())
	}
	has(t, s.visitor().post("/login", code), "was used already")
	if left, err := os.ReadDir(filepath.Join(s.state(), "links")); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

func TestALinkEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link, err := monitor.Link(s.state(), s.url, monitor.Operator, "anna",
		time.Now().Add(-monitor.LinkLife-time.Second))
	s.must(err)
	u, err := url.Parse(link)
	s.must(err)
	if p := s.visitor().post("/login",
		url.Values{"code": {u.Query().Get("code")}}); p.status != http.StatusForbidden {
		t.Errorf("%d", p.status)
	}
	for _, code := range []string{"", "../token", "..", "/", strings.Repeat("x", 9999)} {
		if p := s.visitor().post("/login",
			url.Values{"code": {code}}); p.status != http.StatusForbidden {
			t.Errorf("%q: %d", code, p.status)
		}
	}
	for _, base := range []string{"", "127.0.0.1:5555", "ftp://x/", "http://x/?a=b",
		"http://u:p@x/"} {
		if link, err := monitor.Link(s.state(), base, monitor.Viewer, "anna", time.Now()); err == nil {
			t.Errorf("%q gives %s", base, link)
		}
	}
	if _, err := monitor.Link(t.TempDir(), s.url, monitor.Viewer, "anna", time.Now()); err == nil ||
		!strings.Contains(err.Error(), "is not the state folder") {
		t.Errorf("%v", err)
	}
}

func TestWrongTriesOfStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.still()
	stranger := s.visitor()
	guesses := url.Values{"token": {"guess"}}
	links := url.Values{"code": {strings.Repeat("A", 26)}}
	for _, form := range []url.Values{guesses, links} {
		for range 50 {
			if p := stranger.post("/login", form); p.status != http.StatusForbidden {
				t.Fatalf("%v: %d", form, p.status)
			}
		}
	}
	if p := s.visitor().tries(s.token()); p.status != http.StatusSeeOther {
		t.Errorf("the right token after wrong ones: %d %s", p.status, p.text)
	}
	s.enter(monitor.Operator) // by a link
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	for range int(monitor.SessionLife/monitor.SessionIdle) * 2 {
		s.later(monitor.SessionIdle / 2)
		if p := v.get("/sweeps"); p.status != http.StatusOK && p.status != http.StatusSeeOther {
			t.Fatalf("%d", p.status)
		}
	}
	s.later(monitor.SessionIdle / 2)
	if p := v.get("/sweeps"); p.status != http.StatusSeeOther {
		t.Errorf("after a week: %d", p.status)
	}
	v = s.enter(monitor.Viewer)
	s.later(monitor.SessionIdle + time.Second)
	if p := v.get("/sweeps"); p.status != http.StatusSeeOther {
		t.Errorf("after silence: %d", p.status)
	}
}

// A page that is open is a sign of life.
func TestAnOpenPageStaysLoggedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps")
	s.wait(events, "a beginning", first)
	s.later(monitor.SessionIdle * 2 / 3)
	for range 2 { // the first may still be told at the time before
		s.wait(events, "a sweep", shows(s.submit("i: 1\n")))
	}
	s.later(monitor.SessionIdle * 2 / 3)
	if p := v.get("/sweeps"); p.status != http.StatusOK {
		t.Errorf("%d", p.status)
	}
	if monitor.SessionIdle > 2*time.Hour {
		t.Errorf("a session that nobody uses stays for %v", monitor.SessionIdle)
	}
}

// With TLS browsers are asked to hold what they have from everybody else.
func TestWhatBrowsersAreToldWithTLS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secure       bool
		prefix, host string
		cookie, hsts string
	}{
		"TLS": {true, "", "gpu1.example:5555", "__Host-monitor-lab=", "max-age=604800"},
		"TLS below a prefix": {true, "/lab", "gpu1.example", "__Secure-monitor-lab=",
			"max-age=604800"},
		"TLS on loopback":     {true, "", "127.0.0.1:5555", "__Host-monitor-lab=", ""},
		"TLS on localhost":    {true, "", "localhost:5555", "__Host-monitor-lab=", ""},
		"TLS by its own name": {true, "", "lab.localhost:5555", "__Host-monitor-lab=", ""},
		"TLS by IPv6":         {true, "", "[::1]:5555", "__Host-monitor-lab=", ""},
		"a tunnel":            {false, "", "127.0.0.1:5555", "monitor-lab=", ""},
		"no TLS at this side": {false, "/lab", "gpu1.example", "monitor-lab=", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(o *monitor.Options) {
				o.Secure, o.Prefix, o.Hosts = c.secure, c.prefix, []string{"gpu1.example"}
			})
			p := s.visitor().do(http.MethodPost, "/login",
				url.Values{"token": {s.token()}}.Encode(), func(r *http.Request) {
					r.Host = c.host
					r.Header.Set("Origin", "http://"+c.host)
				})
			cookie := p.header.Get("Set-Cookie")
			if p.status != http.StatusSeeOther || !strings.HasPrefix(cookie, c.cookie) ||
				!strings.Contains(cookie, "; Path="+c.prefix+"/;") ||
				strings.Contains(cookie, "Secure;") != c.secure {
				t.Errorf("%d, cookie %q", p.status, cookie)
			}
			if got := p.header.Get("Strict-Transport-Security"); got != c.hsts {
				t.Errorf("Strict-Transport-Security is %q", got)
			}
		})
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	silent, viewer := s.enter(monitor.Operator), s.enter(monitor.Viewer)
	s.later(time.Millisecond)
	lively := s.enter(monitor.Operator)
	for range monitor.MostOfRole - 1 {
		s.later(time.Millisecond)
		if p := lively.get("/sweeps"); p.status != http.StatusOK {
			t.Fatal(p.status)
		}
		if p := s.visitor().tries(s.token()); p.status != http.StatusSeeOther {
			t.Fatal(p.status)
		}
	}
	if p := silent.get("/sweeps"); p.status != http.StatusSeeOther {
		t.Errorf("who was silent longest is still in: %d", p.status)
	}
	if p := viewer.get("/sweeps"); p.status != http.StatusOK {
		t.Errorf("operators who logged in have logged out a viewer: %d", p.status)
	}
}

func TestTokensAreFilesOfTheirOwner(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "a", "b")
	open := func() error {
		m, err := monitor.New(monitor.Options{State: state})
		if err == nil {
			m.Close()
		}
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "token")
	first, err := os.ReadFile(path)
	if err != nil || len(first) < 27 {
		t.Fatalf("%q %v", first, err)
	}
	for _, name := range []string{".", "links", "token"} {
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); string(again) != string(first) {
		t.Error("the token is another after a restart")
	}
	// A first start that was killed has made the file and not written it.
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Error(err)
	}
	if made, _ := os.ReadFile(path); len(made) < 27 || string(made) == string(first) {
		t.Errorf("%d characters, as before: %v", len(made), string(made) == string(first))
	}
	for wrong, change := range map[string]func() error{
		"is not for its owner alone": func() error { return os.Chmod(path, 0o640) },
		"its owner alone (-rw-r-----)": func() error { // nothing is written to such a file
			return errors.Join(os.Truncate(path, 0), os.Chmod(path, 0o640))
		},
		"has less than 26 characters": func() error {
			return os.WriteFile(path, []byte("correct horse battery sta\n"), 0o600)
		},
	} {
		_ = os.Remove(path)
		if err := os.WriteFile(path, first, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := open(); err == nil || !strings.Contains(err.Error(), wrong) ||
			strings.Contains(err.Error(), strings.TrimSpace(string(first))) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, prefix := range []string{"lab", "/lab//x", "/../x", "/{x}", "/a b"} {
		if _, err := monitor.New(monitor.Options{State: t.TempDir(), Prefix: prefix}); err == nil {
			t.Errorf("the prefix %q is taken", prefix)
		}
	}
	for _, name := range []string{"a b", "a;b", "-a", "A", "a/b"} {
		if _, err := monitor.New(monitor.Options{State: t.TempDir(), Cluster: name}); err == nil {
			t.Errorf("the cluster %q is taken", name)
		}
	}
}
