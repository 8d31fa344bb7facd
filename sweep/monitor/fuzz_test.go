package monitor_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// FuzzNext sees that no login leads to another site.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{"/tasks?where=i%3D1", "", "//evil.example",
		"https://evil.example", `/\evil.example`, "/\t/evil.example", "/.//evil.example", "/#x",
		"/%2f/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		at := monitor.Next(asked)
		page, err := url.Parse("http://127.0.0.1:5555/login")
		if err != nil {
			t.Fatal(err)
		}
		to, err := page.Parse(at)
		if err == nil && (to.Host != page.Host || to.Scheme != page.Scheme) {
			t.Errorf("%q leads to %s", asked, to)
		}
		if !strings.HasPrefix(at, "/") || strings.HasPrefix(at, "//") ||
			strings.ContainsAny(at, "\\\r\n\t") {
			t.Errorf("%q leads to %q", asked, at)
		}
	})
}

// FuzzHost holds what is taken for the monitor's own name against what a URL of that host is.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"127.0.0.1:5555", "[::1]:5555", "localhost", "Z]:", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if at, err := url.Parse("http://" + host + "/"); err == nil && at.Host == host &&
			!strings.ContainsAny(host, "%") {
			if name := monitor.HostOnly(host); name != strings.ToLower(at.Hostname()) {
				t.Errorf("the host %q is taken for %q, and is %q", host, name, at.Hostname())
			}
		}
	})
}

// FuzzQuery reads what a URL asks for: what is read stays the same when a page leads to it.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "where=lr+%3C+1e-3&sort=-loss&state=failed,oom&size=7", "after=100&back=,50,",
		"size=-1&state=none,failed,failed&back=1", "group_by=a,b&where=%20%ff",
		"a;b=c&where=%zz", "size=999999999999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text, size := monitor.Reread(&http.Request{URL: &url.URL{RawQuery: raw}})
		again, same := monitor.Reread(
			&http.Request{URL: &url.URL{RawQuery: strings.TrimPrefix(text, "?")}})
		if text != again || size != same || size < 1 || size > 500 {
			t.Errorf("%q is %q with %d a page, and then %q with %d", raw, text, size, again, same)
		}
	})
}
