package display_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
)

// How long an attempt took that was lost is not known, and not told.
func TestEndsOfAttempts(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	took, none := 1.5, 0.
	err = display.Options{}.Open(out, out).Update(api.Update{Rows: []table.Row{
		{ID: "train-1/0", State: "pending", Attempts: 1, Reason: "its worker gpu2 was stopped",
			Duration: &none},
		{ID: "train-1/1", State: "failed", Reason: "exit code 1", Duration: &took},
	}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "train-1/0 will run again: its worker gpu2 was stopped\n" +
		"train-1/1 failed: exit code 1 (1.5s)\n"
	if d := cmp.Diff(want, string(text)); d != "" {
		t.Error(d)
	}
}
