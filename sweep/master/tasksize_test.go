package master_test

import (
	"errors"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
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
	refused(t, "record.space", submitted)
	refused(t, "space", extended)
	s.must(s.end())
	s.start(alone) // nothing is sent between machines
	if _, err := s.master.Submit(t.Context(), sub); err != nil {
		t.Errorf("on one machine: %v", err)
	}
}

// So are settings with which tasks would be: what a sweep goes on with is checked as its start is.
func TestSettingsThatMakeTasksTooLongAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	long := strings.Repeat("x", 2<<20)
	settings := record(t, 1).Settings()
	settings.Env = map[string]string{"LONG": long}
	with := api.Continuation{Settings: &settings}
	err := s.master.Extend(t.Context(), id,
		api.Extension{Space: spaceOf(t, "i: [0, new]\n"), Continuation: with})
	refused(t, "space", err)
	refused(t, "metrics", s.master.Reread(t.Context(), id,
		[]metric.Rule{{Name: "acc", Pattern: "(" + long + ")"}}, metric.Objective{}, nil))
	s.must(s.master.Pause(t.Context(), id, "", false))
	refused(t, "settings", s.master.Resume(t.Context(), id, with))
	s.must(s.master.Cancel(t.Context(), id, ""))
	refused(t, "settings", s.master.Retry(t.Context(), id, nil, false, with))
	settings.Env["LONG"] = "short"
	s.must(s.master.Retry(t.Context(), id, nil, false, with))
}

// refused checks that a task was too long, and in which field of the request.
func refused(t *testing.T, field string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Parameter != field ||
		!strings.Contains(e.Text, "can be sent to a worker") {
		t.Errorf("%s: %v", field, err)
	}
}
