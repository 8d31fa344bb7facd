package monitor_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// where returns the path of an action on the tasks that a filter picks.
func where(at, action, filter string) string {
	return at + "/" + action + "?" + url.Values{"where": {filter}}.Encode()
}

// plain returns the page without what HTML escapes.
func (p page) plain() page {
	p.text = html.UnescapeString(p.text)
	return p
}

// counts checks how many tasks of a sweep are in some states.
func (s *site) counts(id string, want map[string]int64) {
	s.t.Helper()
	got, err := s.master.Sweep(s.t.Context(), id, false)
	s.must(err)
	for state, n := range want {
		if got.Counts[state] != n {
			s.t.Errorf("%d tasks are %s, want %d: %v", got.Counts[state], state, n, got.Counts)
		}
	}
}

// Operators cancel and retry the tasks that a filter shows, after a page that says how many and has
// the command; the others stay as they are.
func TestActingOnAFilter(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2, 3, 4, 5, 6]\n")
	v := s.enter(monitor.Operator)
	at := "/sweeps/" + id
	lacks(t, v.get(at), "these")
	has(t, v.get(at+"?where=i+%3E+2&state=pending,queued,claimed").plain(),
		`href="`+s.prefix()+where(at, "cancel",
			"(i > 2) and state in [pending, queued, claimed]")+`"`, "Cancel these 4")
	path := where(at, "cancel", "i > 2")
	has(t, v.get(path).plain(), "Cancel 4 tasks of "+id+"?", "4 waiting tasks never run",
		"run-tasks cancel "+id+" --where 'i > 2'")
	if p := v.agree(path); p.status != http.StatusSeeOther ||
		p.header.Get("Location") != s.prefix()+at+"?where=i+%3E+2" {
		t.Fatalf("cancel: %d %s", p.status, p.text)
	}
	s.counts(id, map[string]int64{"cancelled": 4, "pending": 2})
	p := v.get(at + "?where=i+%3E+4")
	has(t, p, "Retry these 2")
	lacks(t, p, "Cancel these")
	path = where(at, "retry", "i > 4")
	has(t, v.get(path), "Run 2 tasks of "+id+" again?")
	if p := v.agree(path); p.status != http.StatusSeeOther {
		t.Fatalf("retry: %d %s", p.status, p.text)
	}
	s.counts(id, map[string]int64{"cancelled": 2, "pending": 4})
}

// A wrong filter, one that picks nothing or more than was confirmed, a viewer and a page of another
// site change nothing, and each gets a page that says why.
func TestActingOnAFilterInVain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2, 3, 4]\n")
	v, viewer := s.enter(monitor.Operator), s.enter(monitor.Viewer)
	at := "/sweeps/" + id
	lacks(t, viewer.get(at+"?where=i+%3E+2"), "these")
	path := where(at, "cancel", "i > 2")
	for name, p := range map[string]page{
		"a viewer asks": viewer.get(path), "a viewer": viewer.post(path, url.Values{"count": {"2"}}),
		"a page of another site": v.do(http.MethodPost, path, "count=2", func(r *http.Request) {
			r.Header.Set("Origin", "http://evil.example")
		}),
	} {
		if p.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, p.status)
		}
	}
	wrong := v.get(where(at, "cancel", "i > 2 and lr = 1"))
	if wrong.status != http.StatusSeeOther {
		t.Fatalf("a wrong filter: %d %s", wrong.status, wrong.text)
	}
	has(t, v.get(strings.TrimPrefix(wrong.header.Get("Location"), s.prefix())),
		`<mark>lr</mark>`, "there is no column")
	for _, action := range []string{"pause", "resume"} { // of a sweep as a whole
		if p := v.post(where(at, action, "i > 2"), url.Values{"count": {"0"}}); p.status < 400 {
			t.Errorf("%s of some tasks: %d", action, p.status)
		}
	}
	if p := v.get(where(at, "cancel", "i > 7")); p.status != http.StatusConflict ||
		!strings.Contains(p.plain().text, "No task of "+id+" that has not ended matches i > 7.") {
		t.Errorf("nothing to cancel: %d %s", p.status, p.text)
	}
	for _, count := range []string{"1", "", "x"} {
		if p := v.post(path, url.Values{"count": {count}}); p.status != http.StatusOK ||
			!strings.Contains(p.text, "The number of tasks changed before you confirmed.") {
			t.Errorf("%q instead of 2 was confirmed: %d %s", count, p.status, p.text)
		}
	}
	s.counts(id, map[string]int64{"pending": 4})
	_, err := s.master.CancelTask(t.Context(), id, 3)
	s.must(err)
	// that one ended meanwhile does not hold up the other
	if p := v.post(path, url.Values{"count": {"2"}}); p.status != http.StatusSeeOther {
		t.Errorf("fewer than were confirmed: %d %s", p.status, p.text)
	}
	s.counts(id, map[string]int64{"pending": 2, "cancelled": 2})
}
