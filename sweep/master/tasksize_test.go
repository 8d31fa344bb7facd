package master_test

import (
	"errors"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// A task that is too long for any message to a worker is refused, and not queued forever.
func TestATooLongTaskIsRefused(t *testing.T) {
	t.Parallel()
	points := spaceOf(t, "i: [0, "+strings.Repeat("x", 1<<20)+"]\n")
	s := newSite(t)
	id := s.submit(1)
	sub := master.Submission{Submission: api.Submission{Record: record(t, 1)}}
	sub.Record.Space = points
	_, submitted := s.master.Submit(t.Context(), sub)
	extended := s.master.Extend(t.Context(), id, api.Extension{Space: points})
	for field, err := range map[string]error{"record.space": submitted, "space": extended} {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Parameter != field ||
			!strings.Contains(e.Text, "can be sent to a worker") {
			t.Errorf("%s: %v", field, err)
		}
	}
	s.must(s.end())
	s.start(alone) // nothing is sent between machines
	if _, err := s.master.Submit(t.Context(), sub); err != nil {
		t.Errorf("on one machine: %v", err)
	}
}
