package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// Failures that are alike are one group.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire("w1", 2, func(g given) *task.Outcome {
		switch {
		case g.Index == 0:
			return well(g)
		case g.Index == 5:
			return &task.Outcome{Class: task.TimedOut, Reason: "ran longer than 5m0s",
				Duration: time.Second}
		}
		return &task.Outcome{
			Class:    task.Error,
			ExitCode: &code,
			Reason:   fmt.Sprintf("exit code 1: no file /data/%d", g.Index),
			Frame:    "train.py:41",
			Duration: time.Second,
		}
	})
	id := s.submit(6)
	s.becomes(id, map[string]int64{"succeeded": 1, "failed": 4, "timeout": 1})
	host, frame := "gpu1", "train.py:41"
	want := api.Failures{Groups: []api.FailureGroup{
		{Count: 4, Class: task.Error, Reason: "exit code 1: no file …", Task: id + "/1",
			Host: &host, Frame: &frame},
		{Count: 1, Class: task.TimedOut, Reason: "ran longer than 5m0s", Task: id + "/5",
			Host: &host},
	}}
	got, err := s.client.Failures(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := s.client.Failures(t.Context(), "none-1"); err == nil ||
		!strings.Contains(err.Error(), "none-1") {
		t.Errorf("of a sweep that is not there: %v", err)
	}
}
