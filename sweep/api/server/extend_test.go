package server_test

import (
	"net/http"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

func TestASweepIsExtendedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(3)
	by := api.Extension{Space: submission(t, 5).Record.Space,
		Continuation: api.Continuation{Revision: "r2", Code: "c2"}}
	for range 2 { // the second changes nothing
		if sum, err := begin(s.client.Extend(t.Context(), id, by, api.DetailTasks)); err != nil ||
			sum.Total != 5 || sum.Revision != "r2" {
			t.Errorf("%+v, %v", sum, err)
		}
	}
	view, err := s.client.Sweep(t.Context(), id, false)
	s.must(err)
	if len(view.Record.Extensions) != 1 || view.Counts["pending"] != 5 {
		t.Errorf("%+v", view)
	}
	page, err := s.client.Tasks(t.Context(), id, api.Query{Where: "i>=3", Sort: "-i"})
	s.must(err)
	if len(page.Tasks) != 2 || strings.Join(page.Tasks[0].Argv, " ") != "train.py --i=4" ||
		page.Tasks[0].ID != "train-1/4" {
		t.Errorf("%+v", page.Tasks)
	}
	if row, err := s.client.Task(t.Context(), id, 4); err != nil || row.Row.Index != 4 {
		t.Errorf("%+v, %v", row, err)
	}
	body := `{"space":{"version":1,"parameters":[{"name":"i","values":["7","8"]}]}}`
	for range 2 {
		status, text, _ := s.raw("POST", "/v1/sweeps/train-1/extend", body, "Idempotency-Key",
			"e-1")
		if got := parse[core.Summary](t, text); status != http.StatusOK || got.Total != 7 {
			t.Errorf("%d %s", status, text)
		}
	}
	s.again()
	if view, err = s.client.Sweep(t.Context(), id, false); err != nil || view.Total != 7 ||
		len(view.Record.Extensions) != 2 {
		t.Errorf("after a restart: %+v, %v", view, err)
	}
	// A sweep of what is missing knows what an extension ran.
	h := s.hire("w1", 4, well)
	h.has(7)
	s.becomes(id, map[string]int64{"succeeded": 7})
	r := submission(t, 9).Record
	m, err := s.client.Missing(t.Context(), r, "c2")
	s.must(err)
	if m.All || m.Ranges.Len() != 2 || m.Ranges.At(0) != 5 {
		t.Errorf("%+v", m)
	}
}

func TestPriorities(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sub := submission(t, 3)
	sub.Record.Priority = 4
	made, err := begin(s.client.Submit(t.Context(), sub, "", ""))
	s.must(err)
	if made.Priority != 4 {
		t.Errorf("%+v", made)
	}
	for range 2 {
		if sum, err := s.client.Prioritize(t.Context(), "", -7); err != nil || sum.Priority != -7 {
			t.Errorf("%+v, %v", sum, err)
		}
	}
	s.again()
	if all, err := s.client.Sweeps(t.Context(), "", 0); err != nil || len(all) != 1 ||
		all[0].Priority != -7 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 1, hold).has(0)
	id := s.submit(3)
	tooHigh, extended := submission(t, 1), submission(t, 1)
	tooHigh.Record.Priority = 1001
	extended.Record.Extensions = []*space.Space{extended.Record.Space}
	for parameter, sub := range map[string]api.Submission{"record.priority": tooHigh,
		"record.extensions": extended} {
		_, err := s.client.Submit(t.Context(), sub, "", "")
		if e, ok := err.(*api.Error); !ok || e.Status != http.StatusBadRequest ||
			e.Parameter != parameter {
			t.Errorf("%s: %v", parameter, err)
		}
	}
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/sweeps/" + id + "/extend", "", 400,
			"missing: send the space of the parameters as they are now"},
		{"/sweeps/" + id + "/extend", `{"space":{"version":9}}`, 400, "its version is 9"},
		{"/sweeps/" + id + "/extend", `{"space":{"version":1,"parameters":[]},"revision":"../x"}`,
			400, "is not a revision"},
		{"/sweeps/none-1/extend", `{"space":{"version":1,"parameters":[]}}`, 404,
			"there is no sweep"},
		{"/sweeps/" + id + "/priority", "", 400, "not nothing"},
		{"/sweeps/" + id + "/priority?n=1001", "", 400,
			"a priority is a whole number from -1000 to 1000, not 1001"},
		{"/sweeps/" + id + "/priority?n=1.5", "", 400, "not 1.5"},
		{"/workers/w9/restart", "", 404, "there is no worker w9"},
		{"/workers/w1/restart?now=maybe", "", 400, "neither true nor false"},
		{"/workers/w1/restart?now=true", "", 200, `"state":"restarting"`},
		{"/workers/w1/restart", "", 200, `"state":"restarting"`},
		{"/sweeps/" + id + "/cancel", "", 200, ""},
		{"/sweeps/" + id + "/extend", `{"space":{"version":1,"parameters":[]}}`, 409,
			"then it can be extended"},
	} {
		if status, text, _ := s.raw("POST", "/v1"+c.path, c.body); status != c.status ||
			!strings.Contains(text, c.says) {
			t.Errorf("%s %s: %d %s; want %d, %s", c.path, c.body, status, text, c.status, c.says)
		}
	}
}
