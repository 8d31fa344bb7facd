package main

import (
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
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
	shared := ended
	shared.GPUs = []task.Device{{UUID: "GPU-5b3c2a1f-1111-2222"}, {UUID: "MIG-c0ffee00-1"}}
	stop, word := task.Stopped, "stopped"
	stopped := ran
	stopped.Class, stopped.Reason = &stop, &word
	for _, c := range []struct {
		a    api.Attempt
		want string
	}{
		{api.Attempt{Worker: "w2"}, "handed to w2"},
		{api.Attempt{Worker: "w2", Class: &lost, Reason: &silent},
			"handed to w2, lost: its worker w2 was silent for 30s"},
		{ran, "2026-11-21 10:00:00 UTC on gpu1:0"},
		{stopped, "2026-11-21 10:00:00 UTC on gpu1:0, stopped"},
		{ended, "2026-11-21 10:00:00 UTC on gpu1:0, 12.3s, error: exit code 1"},
		{shared, "2026-11-21 10:00:00 UTC on gpu1:0 with GPU-5b3c2a1f, MIG-c0ffee00, 12.3s, error: " +
			"exit code 1"},
		{cut, "2026-11-21 10:00:00 UTC on gpu1:0, found outputs of an earlier attempt, 12.3s, error: " +
			"exit code 1, output cut, superseded"},
	} {
		if got := attemptText(c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A task that has not begun says what it waits for.
func TestStateText(t *testing.T) {
	t.Parallel()
	gpu, worker := "waits for 1 GPU: w: no GPU", "waits for worker w, which is away"
	one := []api.Attempt{{Worker: "w"}}
	failed := "exit code 1"
	quiet := "no heartbeat from w for 45s: the task is rescheduled when that reaches 2m0s"
	again := []api.Attempt{{Worker: "w", Reason: &failed}}
	for _, c := range []struct {
		state, reason string
		attempts      []api.Attempt
		waits         *string
		want          string
	}{
		{state: "pending", want: "pending"},
		{state: "pending", waits: &gpu, want: "pending: " + gpu},
		{state: "pending", reason: worker, waits: &gpu, want: "pending: " + worker},
		{state: "pending", reason: failed, attempts: again, waits: &gpu,
			want: "pending: " + gpu},
		{state: "claimed", attempts: one, waits: &gpu, want: "claimed: " + gpu},
		{state: "queued", attempts: one, waits: &gpu, want: "queued: " + gpu},
		{state: "running", attempts: one, waits: &gpu, want: "running"},
		{state: "running", reason: quiet, attempts: one, want: "running: " + quiet},
		{state: "pending", reason: quiet, attempts: again, want: "pending: " + quiet},
		{state: "failed", reason: failed, attempts: one, want: "failed"},
	} {
		shown := api.Task{Row: table.Row{State: c.state, Reason: c.reason}, Attempts: c.attempts}
		if got := stateText(core.Summary{Waits: c.waits}, shown); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
}

// A task that waits for nothing else says which tasks are ahead of it.
func TestAheadText(t *testing.T) {
	t.Parallel()
	sweep := func(id string, priority int, running, queued, pending int64) core.Summary {
		return core.Summary{ID: id, State: core.Open, Priority: priority, Counts: map[string]int64{
			"running": running, "queued": queued, "pending": pending}}
	}
	paused := sweep("paused-5", 9, 1, 0, 7)
	paused.State = core.Paused
	for _, c := range []struct {
		before int64
		prefix string
		others []core.Summary
		want   string
	}{
		{want: ""},
		{before: 1, want: "waits for 1 earlier task of own-1"},
		{before: 1000, prefix: "more than ", others: []core.Summary{sweep("own-1", 0, 2, 3, 2000)},
			want: "waits for 2 running tasks of own-1, more than 1000 earlier tasks of own-1"},
		{others: []core.Summary{sweep("high-2", 5, 1, 1, 2), sweep("low-3", -1, 2, 0, 9)},
			want: "waits for 1 running task of high-2, 2 running tasks of low-3, 3 tasks of " +
				"high-2 (priority 5)"},
		{others: []core.Summary{sweep("same-4", 0, 0, 0, 2), sweep("empty-6", 7, 0, 0, 0)},
			want: "takes turns with same-4"},
		{before: 2, others: []core.Summary{paused, sweep("same-4", 0, 0, 0, 2)},
			want: "waits for 1 running task of paused-5, 2 earlier tasks of own-1; takes turns " +
				"with same-4"},
	} {
		if got := aheadText(sweep("own-1", 0, 0, 0, 0), c.before, c.prefix, c.others); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
