package monitor_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"mlframework/sweep/monitor"
)

// visitor is an HTTP client that keeps cookies, as a browser does.
type visitor struct {
	s    *site
	http http.Client
}

func (s *site) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	s.must(err)
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{s, http.Client{Jar: jar, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}
}

// page is an answer.
type page struct {
	status int
	text   string
	header http.Header
}

func (v *visitor) do(method, path, body string, change ...func(*http.Request)) page {
	v.s.t.Helper()
	r, err := http.NewRequestWithContext(v.s.t.Context(), method, v.s.url+path,
		strings.NewReader(body))
	v.s.must(err)
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+r.URL.Host)
	}
	for _, c := range change {
		c(r)
	}
	answer, err := v.http.Do(r)
	v.s.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	v.s.must(err)
	return page{answer.StatusCode, string(text), answer.Header}
}

func (v *visitor) get(path string, change ...func(*http.Request)) page {
	v.s.t.Helper()
	return v.do(http.MethodGet, path, "", change...)
}

// post sends a form as a page of the monitor would.
func (v *visitor) post(path string, form url.Values) page {
	v.s.t.Helper()
	return v.do(http.MethodPost, path, form.Encode())
}

// enter logs in with a link.
func (s *site) enter(role monitor.Role) *visitor {
	s.t.Helper()
	v := s.visitor()
	link, err := monitor.Link(s.state(), s.url, role, "anna", s.clock())
	s.must(err)
	u, err := url.Parse(link)
	s.must(err)
	if p := v.post("/login",
		url.Values{"code": {u.Query().Get("code")}}); p.status != http.StatusSeeOther {
		s.t.Fatalf("login: %d %s", p.status, p.text)
	}
	return v
}

// prefix returns what the paths of the monitor begin with.
func (s *site) prefix() string {
	u, err := url.Parse(s.url)
	s.must(err)
	return u.Path
}

func (s *site) token() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.state(), "token"))
	s.must(err)
	return strings.TrimSpace(string(text))
}
