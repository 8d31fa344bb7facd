package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// A sweep takes other settings: attempts from then on run with them, the record keeps those before,
// what has succeeded is ranked anew, and the key of a task is that of what it ran with.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := true
	s.hire("w1", 1, func(g given) *task.Outcome {
		if g.Index == 1 && first {
			first = false
			return badly(g)
		}
		o := well(g)
		o.Metrics = append(o.Metrics, metric.FinalValue{Name: "loss", Value: 10 - float64(g.Index)})
		return o
	})
	id := s.submit(3)
	s.becomes(id, map[string]int64{"succeeded": 2, "failed": 1})
	to := core.Settings{Env: map[string]string{"FIXED": "yes"}, Timeout: time.Hour,
		Retry: task.Retry{Lost: 3}, Objective: metric.Objective{Metric: "loss"}}
	if _, err := begin(s.client.Retry(t.Context(), id, api.ResumeRequest{
		Continuation: api.Continuation{Revision: "r2", Code: "c1",
			Settings: &to}}, "")); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, map[string]int64{"succeeded": 3})
	s.again()
	view, err := s.client.Sweep(t.Context(), id, false)
	s.must(err)
	r := view.Record
	if r.Recipe.Env["FIXED"] != "yes" || r.Recipe.Timeout != time.Hour || len(r.Earlier) != 1 ||
		r.Earlier[0].Revision != "r1" ||
		r.Earlier[0].Env["FIXED"] != "" ||
		r.Earlier[0].Objective.Metric != "accuracy" {
		t.Errorf("%+v", r)
	}
	page, err := s.client.Tasks(t.Context(), id, api.Query{Best: true, Top: 3})
	s.must(err)
	if len(page.Tasks) != 3 || page.Tasks[0].Index != 2 || page.Tasks[2].Index != 0 {
		t.Errorf("by loss: %v", indexes(page.Tasks))
	}
	for env, want := range map[string]int64{"": 1, "yes": 2} {
		sub := submission(t, 3)
		if env != "" {
			sub.Record.Recipe.Env = map[string]string{"FIXED": env}
		}
		m, err := s.client.Missing(t.Context(), sub.Record, "c1")
		s.must(err)
		if n := m.Ranges.Len(); n != want || m.All {
			t.Errorf("with FIXED=%q %d are missing, not %d", env, n, want)
		}
	}
	if _, text, _ := s.raw("GET", "/v1/audit", ""); !strings.Contains(text,
		"settings=env,timeout,objective") {
		t.Errorf("the audit does not say what changed: %s", text)
	}
	for body, says := range map[string]string{
		`{"settings":{"timeout":-1}}`:                           "settings",
		`{"settings":{"env":{"A B":"c"}}}`:                      "settings.env",
		`{"settings":{"metrics":[{"name":"x","pattern":"("}]}}`: "settings.metrics",
		`{"settings":{"retry":{"error":-1}}}`:                   "settings",
		`{"settings":{"space":true}}`:                           "unknown field",
	} {
		if status, text, _ := s.raw("POST", "/v1/sweeps/"+id+"/retry",
			body); status != http.StatusBadRequest ||
			!strings.Contains(text, says) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}
