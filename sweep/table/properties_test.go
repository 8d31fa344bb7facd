package table_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// What tasks have is told apart by whether it differs; a number that is none is the same as another.
func TestProperties(t *testing.T) {
	t.Parallel()
	second := 1.0
	rows := []table.Row{
		{State: "succeeded", Attempts: 1, Host: "gpu1", Duration: &second,
			Parameters: table.Parameters{{Name: "lr", Value: "0.1"}, {Name: "note", Value: ""}},
			Metrics:    metric.Final{{Name: "loss", Value: 0.25}, {Name: "norm", Value: math.NaN()}},
			GPUs:       []table.GPU{{Name: "H200"}, {Name: "H200"}}},
		{State: "failed", Attempts: 1, Host: "gpu1", Reason: "exit code 1",
			Parameters: table.Parameters{{Name: "lr", Value: "0.10"}},
			Metrics:    metric.Final{{Name: "norm", Value: math.NaN()}}},
	}
	var differ, same []string
	for _, p := range table.Properties(rows...) {
		if text := fmt.Sprintf("%s %q %q", p.Name, p.Text(0), p.Text(1)); p.Differs() {
			differ = append(differ, text)
		} else {
			same = append(same, text)
		}
	}
	want := []string{`lr "0.1" "0.10"`, `note "" ""`, `state "succeeded" "failed"`,
		`reason "" "exit code 1"`, `loss "0.25" ""`, `took "1.0s" ""`, `gpu "H200, H200" ""`}
	if d := cmp.Diff(want, differ); d != "" {
		t.Errorf("they differ in (-want +got):\n%s", d)
	}
	want = []string{`revision "" ""`, `norm "NaN" "NaN"`, `attempts "1" "1"`, `host "gpu1" "gpu1"`}
	if d := cmp.Diff(want, same); d != "" {
		t.Errorf("the same is (-want +got):\n%s", d)
	}
}
