package display_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func waiting(text string) core.Summary {
	s := core.Summary{ID: "train-1", Total: 40, State: core.Open,
		Counts: map[string]int64{"succeeded": 12}}
	if text != "" {
		s.Waits = &text
	}
	return s
}

// A sweep that waits for GPUs says so in the line of the bar, however narrow the terminal is.
func TestBarOfAWaitingSweep(t *testing.T) {
	t.Parallel()
	const why = "waits for 1 GPU with 40.0 GB: gpu1: GPU-5b3c2a1f busy: ben, python (pid 411), " +
		"6.0 GB"
	runs := waiting(why)
	runs.Counts["running"] = 2
	silent := waiting("")
	silent.Silent = new("no heartbeat from gpu3 for 45s: its task is rescheduled when that " +
		"reaches 2m0s")
	for _, c := range []struct {
		s       core.Summary
		columns int
		want    string
	}{
		{waiting(why), 39, "12/40 [###-------] waits for 1 GPU wit…"},
		{waiting(why), 79, "train-1 12/40 [###-------] waits for 1 GPU with 40.0 GB: gpu1: " +
			"GPU-5b3c2a1f bu…"},
		{waiting(why), 199, "train-1 12/40 [###########---------------------------] waits for 1 " +
			"GPU with 40.0 GB: gpu1: GPU-5b3c2a1f busy: ben, python (pid 411), 6.0 GB"},
		{waiting(""), 79, "train-1 12/40 [###########---------------------------]"},
		{silent, 79, "train-1 12/40 [###-------] no heartbeat from gpu3 for 45s: its task is " +
			"resched…"},
		{silent, 39, "12/40 [###-------] no heartbeat from g…"},
		{runs, 79, "train-1 12/40 [###########---------------------------] 2 running"},
	} {
		got := display.ProgressLine(c.s, nil, "", 0, c.columns)
		if got != c.want {
			t.Errorf("%d columns: %q, not %q", c.columns, got, c.want)
		}
	}
}

// The line of a sweep never is wider than the terminal, and keeps the bar and the ETA.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	s := core.Summary{ID: "run_training-1", Total: 24, State: core.Open,
		Counts: map[string]int64{"succeeded": 11, "failed": 1, "running": 2, "cancelled": 1}}
	best := &api.Best{Metric: "accuracy", Value: "0.972", Task: "run_training-1/7"}
	for columns, want := range map[int]string{
		139: "run_training-1 13/24 [#############-----------] ETA 55s, 1 failed, 1 cancelled, " +
			"best 0.972 (#7), 2 running, now accuracy=0.7 (#3), 12.0/min",
		119: "13/24 [##########---------] ETA 55s, 1 failed, 1 cancelled, best 0.972 (#7), " +
			"2 running, now accuracy=0.7 (#3), 12.0/min",
		99: "13/24 [###########-----------] ETA 55s, 1 failed, 1 cancelled, best 0.972 (#7), " +
			"2 running, 12.0/min",
		79: "13/24 [######------] ETA 55s, 1 failed, 1 cancelled, best 0.972 (#7), 2 running",
		59: "13/24 [########--------] ETA 55s, 1 failed, best 0.972 (#7)",
		39: "13/24 [#######------] ETA 55s, 1 failed",
		24: "13/24 [########--------]",
	} {
		got := display.ProgressLine(s, best, "accuracy=0.7 (#3)", 0.2, columns)
		if got != want {
			t.Errorf("%d columns: %q, not %q", columns, got, want)
		}
		if n := utf8.RuneCountInString(got); n > columns {
			t.Errorf("%q has %d columns of %d", got, n, columns)
		}
	}
}

// Elsewhere it is told when it begins to wait, and not whenever what it waits for is told
// otherwise.
func TestLinesOfAWaitingSweep(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	lines := display.Options{}.Open(out, out)
	for _, text := range []string{"", "waits: 6.0 GB", "waits: 6.1 GB", "", "waits: 5.0 GB"} {
		if err := lines.Update(api.Update{Sweep: waiting(text)}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if want := "train-1 waits: 6.0 GB\ntrain-1 waits: 5.0 GB\n"; string(got) != want {
		t.Errorf("%q, not %q", got, want)
	}
}
