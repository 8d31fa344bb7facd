package monitor_test

import (
	"fmt"
	"testing"

	"mlframework/sweep/monitor"
)

// The page of the audit says who did what, page by page, and of one sweep.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/audit"), `aria-current="page">Audit`, "Nothing was done yet.")
	s.master.User = "ann<b>"
	first, second := s.submit("i: [1, 2, 3]\n"), s.submit("i: 1\n")
	_, err := s.master.CancelTask(t.Context(), first, 1)
	s.must(err)
	_, err = s.master.Drain(t.Context(), "w9", false)
	if err == nil {
		t.Fatal("a worker that is not there was drained")
	}
	for range 49 {
		_, err = s.master.Pause(t.Context(), second, false)
		s.must(err)
		_, err = s.master.Prioritize(t.Context(), second, 3)
		s.must(err)
	}
	var p page
	s.until("the page has all", func() bool { // an answer is kept for a second
		p = v.get("/audit")
		return len(rows(p)) == 100
	})
	has(t, p, "<td>ann&lt;b&gt;</td>", "<td>uid ", "100 of more", `href="/sweeps/`+second+`"`,
		`<td class="wrapped">n=3</td>`, `state-succeeded">done`, "refused", "w9",
		`<a href="/sweeps/`+first+`/tasks/1">`)
	lacks(t, p, "<b>\"", "ann<b>")
	older := v.get(s.link(p, "next"))
	if got := len(rows(older)); got != 2 {
		t.Errorf("%d older actions", got)
	}
	has(t, older, `<a href="/audit">Newest</a>`, "submit")
	one := v.get("/audit?object=" + first)
	has(t, one, "Actions on "+first, `value="`+first+`"`)
	if got := len(rows(one)); got != 2 {
		t.Errorf("%d actions on %s", got, first)
	}
	has(t, v.get("/audit?object=none-1"), "Nothing was done to none-1.")
	if p := v.get("/audit?after=bananas"); p.status != 400 {
		t.Errorf("after bananas: %d", p.status)
	}
}

// A tab with the audit is told of what is done.
func TestTheAuditIsLive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/audit")
	s.wait(events, "a beginning", shows("Nothing was done yet."))
	id := s.submit("i: [1, 2, 3]\n")
	s.wait(events, "the submission", shows("submit", fmt.Sprintf(`href="/sweeps/%s"`, id)))
}
