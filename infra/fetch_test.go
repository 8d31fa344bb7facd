package infra_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra"
)

// Outputs of a host that left the cluster are fetched while it is listed.
func TestFetchFromAHostThatLeft(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	task := filepath.Join(f.root("gpu3").Outputs("gpu3"), "train-1", "0")
	if err := os.MkdirAll(task, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(task, "best.pt"), []byte("weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := f.request("gpu1", "gpu2")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		listed []string
		err    string
	}{
		"listed":     {[]string{"gpu1", "gpu2", "gpu3"}, ""},
		"not listed": {[]string{"gpu1", "gpu2"}, "not a host of the cluster any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := infra.Open(t.Context(), infra.Location{Name: "c", Owner: "anna",
				Folder: "ml/c", Master: "gpu1", Targets: f.request(c.listed...).Targets},
				f.options())
			if err != nil {
				t.Fatal(err)
			}
			defer cluster.Close()
			dir := t.TempDir()
			_, err = cluster.Fetch(t.Context(), infra.Outputs{Sweep: "train-1"}, dir,
				[]infra.FetchRequest{{Host: "gpu3", Tasks: []int64{0}}}, nil, nil)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v", err)
				}
				return
			}
			text, read := os.ReadFile(filepath.Join(dir, "train-1", "0", "best.pt"))
			if err != nil || string(text) != "weights" {
				t.Errorf("%v: %q, %v", err, text, read)
			}
		})
	}
}
