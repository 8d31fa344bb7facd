package server_test

import (
	"net/http"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// A sweep is removed once, and who did not hear that asks again. What is known of it stays in the
// audit.
func TestRemovingASweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 1, well)
	id := s.submit(1)
	s.becomes(id, map[string]int64{"succeeded": 1})
	for range 2 {
		status, text, _ := s.raw("DELETE", "/v1/sweeps/"+id, "", "Idempotency-Key", "one")
		if status != http.StatusNoContent {
			t.Errorf("%d %s", status, text)
		}
		s.again()
	}
	status, text, _ := s.raw("DELETE", "/v1/sweeps/"+id, "", "Idempotency-Key", "two")
	if status != http.StatusNotFound || !strings.Contains(text, "it was removed") {
		t.Errorf("another request: %d %s", status, text)
	}
	left, err := s.client.Removals(t.Context())
	s.must(err)
	if len(left) != 1 || left[0].Sweep != id || left[0].Worker != "w1" {
		t.Errorf("to be removed: %+v", left)
	}
	page, err := s.client.Audit(t.Context(), api.AuditQuery{Object: id})
	s.must(err)
	n := 0
	for _, e := range page.Actions {
		if e.Action == "remove" && e.Outcome == core.AuditDone {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the audit has it %d times: %q", n, done(page.Actions))
	}
}
