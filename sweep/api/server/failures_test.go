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

// Failures of several sweeps that are alike are one group, which says where and when they were.
func TestAllFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire("w1", 2, func(g given) *task.Outcome {
		if g.Index > 1 {
			return well(g)
		}
		return &task.Outcome{Class: task.Error, ExitCode: &code,
			Reason:   fmt.Sprintf("exit code 1: no file /data/%d", g.Index),
			Duration: time.Second}
	})
	empty, err := s.client.AllFailures(t.Context(), 0)
	if err != nil || len(empty.Groups) != 0 || empty.Groups == nil {
		t.Errorf("without a sweep: %+v, %v", empty, err)
	}
	first, second := s.submit(3), s.submit(4)
	s.becomes(first, map[string]int64{"succeeded": 1, "failed": 2})
	s.becomes(second, map[string]int64{"succeeded": 2, "failed": 2})
	for _, within := range []time.Duration{0, time.Hour} {
		got, err := s.client.AllFailures(t.Context(), within)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Groups) == 1 && got.Groups[0].First != nil {
			g := &got.Groups[0]
			if ago := time.Since(*g.First); ago < -time.Minute || ago > time.Minute ||
				g.Last.Before(*g.First) {
				t.Errorf("from %v to %v", g.First, g.Last)
			}
			g.First, g.Last = nil, nil
		}
		want := api.AllFailures{Groups: []api.SharedFailure{{Count: 4, Class: task.Error,
			Reason: "exit code 1: no file …", Hosts: []string{"gpu1"},
			Sweeps: []api.FailureCount{{Sweep: second, Count: 2, Task: second + "/0"},
				{Sweep: first, Count: 2, Task: first + "/0"}}}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("within %v: %s", within, diff)
		}
	}
}
