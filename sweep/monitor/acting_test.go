package monitor_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
)

// agree opens the page of an action and sends its form, with further fields: name, value.
func (v *visitor) agree(path string, fields ...string) page {
	v.s.t.Helper()
	asked := v.get(path)
	count := regexp.MustCompile(`name="count" value="([0-9]+)"`).FindStringSubmatch(asked.text)
	if asked.status != http.StatusOK || count == nil {
		v.s.t.Fatalf("%s: %d %s", path, asked.status, asked.text)
	}
	form := url.Values{"count": {count[1]}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.post(path, form)
}

// Operators pause, resume, cancel and retry, each after a page that says what it does; the audit has
// their name.
func TestActing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2, 3]\n")
	v := s.enter(monitor.Operator)
	at := "/sweeps/" + id
	for _, step := range []struct {
		action, label, question, state string
	}{
		{"pause", "Pause", "Pause " + id + "?", "paused"},
		{"resume", "Resume", "Resume " + id + "?", "running"},
		{"cancel", "Cancel", "Cancel " + id + "?", "cancelled"},
		{"retry", "Retry cancelled", "Run 3 failed or cancelled tasks of " + id + " again?", "running"},
	} {
		if p, url := v.get(at), s.prefix()+at+"/"+step.action; !strings.Contains(p.text,
			`href="`+url+`" data-key="`+url+`">`+step.label+"</a>") {
			t.Errorf("%s is not offered", step.action)
		}
		if p := v.get(at + "/" + step.action); !strings.Contains(p.text, step.question) ||
			!strings.Contains(p.text, "run-tasks "+step.action+" "+id) {
			t.Errorf("%s asks %s", step.action, p.text)
		}
		if p := v.agree(at + "/" + step.action); p.status != http.StatusSeeOther ||
			p.header.Get("Location") != s.prefix()+at {
			t.Fatalf("%s: %d %s", step.action, p.status, p.text)
		}
		got, err := s.master.Sweep(t.Context(), id, false)
		s.must(err)
		if string(got.State) != step.state {
			t.Errorf("after %s it is %s", step.action, got.State)
		}
	}
	if p := v.agree(at + "/tasks/1/cancel"); p.status != http.StatusSeeOther {
		t.Errorf("a task: %d %s", p.status, p.text)
	}
	if p := v.agree(at + "/tasks/1/retry"); p.status != http.StatusSeeOther {
		t.Errorf("a task again: %d %s", p.status, p.text)
	}
	has(t, v.get("/audit"), `<td class="wrapped">1 task</td>`)
	all, err := s.master.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	if n := len(all.Actions); n < 6 || all.Actions[0].User != "anna" ||
		all.Actions[0].Action != "retry" {
		t.Errorf("the audit has %+v", all.Actions)
	}
}

// The button of a retry names what it runs again.
func TestRetryLabel(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string]map[string]int64{
		"Retry failed":               {"failed": 1, "succeeded": 2},
		"Retry cancelled":            {"cancelled": 3},
		"Retry failed and cancelled": {"lost": 1, "cancelled": 1},
	} {
		if got := monitor.RetryLabel(counts); got != want {
			t.Errorf("%v: %q, not %q", counts, got, want)
		}
	}
}

// What changed since it was confirmed is asked again, what is not possible any more refused, and
// viewers cannot act.
func TestActingTooLate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2, 3]\n")
	v, viewer := s.enter(monitor.Operator), s.enter(monitor.Viewer)
	at := "/sweeps/" + id
	if p := viewer.get(at); strings.Contains(p.text, "/cancel") {
		t.Error("a viewer is offered an action")
	}
	if p := viewer.post(at+"/cancel", url.Values{"count": {"0"}}); p.status != http.StatusForbidden {
		t.Errorf("a viewer: %d", p.status)
	}
	if p := v.do(http.MethodPost, at+"/cancel", "count=0", func(r *http.Request) {
		r.Header.Set("Origin", "http://evil.example")
	}); p.status != http.StatusForbidden {
		t.Errorf("a page of another site: %d", p.status)
	}
	for _, path := range []string{"/sweeps/newest/cancel", "/sweeps/newest/tasks/0/cancel"} {
		if p := v.get(path); p.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, p.status)
		}
	}
	if p := v.post(at+"/retry", url.Values{"count": {"0"}}); p.status != http.StatusConflict ||
		!strings.Contains(p.text, id+" has no failed or cancelled task.") {
		t.Errorf("too early: %d %s", p.status, p.text)
	}
	_, err := s.master.CancelTask(t.Context(), id, 0)
	s.must(err)
	if p := v.post(at+"/retry", url.Values{"count": {"0"}}); p.status != http.StatusOK ||
		!strings.Contains(p.text, "The number of tasks changed before you confirmed.") {
		t.Errorf("another number: %d %s", p.status, p.text)
	}
	_, err = s.master.Cancel(t.Context(), id)
	s.must(err)
	for action, says := range map[string]string{
		"pause": "be paused", "resume": "be resumed", "cancel": "be cancelled",
		"priority": "get another priority",
	} {
		p := v.post(at+"/"+action, url.Values{"count": {"0"}, "n": {"1"}})
		if p.status != http.StatusConflict ||
			!strings.Contains(p.text, id+" is cancelled and cannot "+says+".") {
			t.Errorf("%s, too late: %d %s", action, p.status, p.text)
		}
	}
	form := url.Values{"count": {"1"}}
	if p := v.post(at+"/tasks/1/cancel", form); p.status != http.StatusConflict ||
		!strings.Contains(p.text, id+"/1 is already cancelled.") {
		t.Errorf("a task, too late: %d %s", p.status, p.text)
	}
}
