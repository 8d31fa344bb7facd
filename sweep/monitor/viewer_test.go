package monitor_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// A viewer sees what operators see and no way to act, and every request that acts is refused before
// the master hears of it. So is one without a login.
func TestAViewerDoesNotAct(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 1, badly)
	id := s.submit("i: [1, 2]\n")
	s.becomes(id, "failed", 2)
	viewer, nobody := s.enter(monitor.Viewer), s.visitor()
	names := strings.NewReplacer("{sweep}", id, "{index}", "0", "{worker}", "w1")
	actions := monitor.Actions()
	if len(actions) < 12 {
		t.Fatalf("only %q", actions)
	}
	for _, path := range []string{"/sweeps", "/sweeps/" + id, "/sweeps/" + id + "?state=failed",
		"/sweeps/" + id + "/tasks/0", "/workers"} {
		p := viewer.get(path)
		if p.status != http.StatusOK {
			t.Fatalf("%s: %d", path, p.status)
		}
		for _, action := range actions {
			lacks(t, p, `href="`+s.prefix()+names.Replace(action))
		}
	}
	for _, action := range actions {
		path := names.Replace(action)
		form := url.Values{"count": {"2"}, "n": {"3"}, "now": {"1"}}
		for _, query := range []string{"", "?where=i+%3E+0"} {
			if p := viewer.get(path + query); p.status != http.StatusForbidden ||
				!strings.Contains(p.text, "Only operators can do this; you are logged in as a viewer.") {
				t.Errorf("GET %s: %d %s", path+query, p.status, p.text)
			}
			if p := viewer.post(path+query, form); p.status != http.StatusForbidden {
				t.Errorf("POST %s: %d", path+query, p.status)
			}
			if p := nobody.post(path+query, form); p.status != http.StatusUnauthorized {
				t.Errorf("POST %s without a login: %d", path+query, p.status)
			}
		}
	}
	s.counts(id, map[string]int64{"failed": 2})
	if w := s.worker("w1"); w.State != "ready" || w.Wanted != nil {
		t.Errorf("the worker is %+v", w)
	}
}
