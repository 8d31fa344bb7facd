package main

import (
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

func TestAttemptText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, timeZone())
	host, slot, took, class, reason := "gpu1", 0, 12.3, task.Error, "exit code 1"
	lost, silent := task.Loss, "its worker w2 was silent for 30s"
	ran := api.Attempt{Worker: "w1", Host: &host, Slot: &slot, Started: &at}
	ended := ran
	ended.Duration, ended.Class, ended.Reason = &took, &class, &reason
	cut := ended
	cut.Resumed, cut.Superseded, cut.Stdout = true, true, &task.Output{Truncated: true}
	for _, c := range []struct {
		a    api.Attempt
		want string
	}{
		{api.Attempt{Worker: "w2"}, "handed to w2"},
		{api.Attempt{Worker: "w2", Class: &lost, Reason: &silent},
			"handed to w2, lost: its worker w2 was silent for 30s"},
		{ran, "2026-11-21 10:00:00 on gpu1:0"},
		{ended, "2026-11-21 10:00:00 on gpu1:0, 12.3s, error: exit code 1"},
		{cut, "2026-11-21 10:00:00 on gpu1:0, found outputs of an earlier attempt, 12.3s, error: " +
			"exit code 1, output cut, superseded"},
	} {
		if got := attemptText(c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
