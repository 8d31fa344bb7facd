package display_test

import (
	"os"
	"path/filepath"
	"testing"

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
		s     core.Summary
		width int
		want  string
	}{
		{waiting(why), 40, "12/40 waits "},
		{waiting(why), 80, "train-1 12 of 40 done, waits for 1 GPU with 40.0 GB: gpu1: GPU-5b… "},
		{waiting(why), 200, "train-1 12 of 40 done, " + why + " "},
		{waiting(why), 60, "train-1 12 of 40 done, waits for 1 GPU with 4… "},
		{waiting(""), 80, "train-1 12 of 40 done "},
		{silent, 80, "train-1 12 of 40 done, no heartbeat from gpu3 for 45s: its task i… "},
		{silent, 40, "12/40 no heartbeat "},
		{runs, 80, "train-1 12 of 40 done, 2 running "},
	} {
		if got := display.Left(c.s, c.width); got != c.want {
			t.Errorf("%d columns: %q, not %q", c.width, got, c.want)
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
