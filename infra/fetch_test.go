package infra_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
)

// A host that left the cluster stays in its record, and its outputs are fetched from it, until it
// has none any more.
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
	hosts := func() (names []string) {
		for _, h := range f.record("gpu1").Hosts {
			names = append(names, h.Name)
		}
		return names
	}
	r := f.request("gpu1", "gpu2")
	for _, away := range []bool{false, true, false} { // only the first call changes anything
		f.away["gpu3"] = away
		if _, err := f.up(r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"gpu1", "gpu2", "gpu3"}, hosts()); diff != "" {
			t.Fatal(diff)
		}
	}
	if result, err := f.up(r); err != nil || result.Plan.Changes {
		t.Errorf("%+v, %v", result.Plan.Steps, err)
	}
	cluster, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
		Master: "gpu1", Targets: r.Targets}, f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	dir := t.TempDir()
	_, err = cluster.Fetch(t.Context(), infra.Outputs{Sweep: "train-1"}, dir,
		[]infra.FetchRequest{{Host: "gpu3", Tasks: []int64{0}}}, nil, nil)
	text, read := os.ReadFile(filepath.Join(dir, "train-1", "0", "best.pt"))
	if err != nil || string(text) != "weights" {
		t.Errorf("%v: %q, %v", err, text, read)
	}
	if pushed, _, err := cluster.Push(t.Context(), f.project(t.TempDir(), "one"),
		nil); err != nil || len(pushed) != 2 {
		t.Errorf("%+v, %v", pushed, err)
	}
	if err := os.RemoveAll(filepath.Dir(task)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"gpu1", "gpu2"}, hosts()); diff != "" {
		t.Error(diff)
	}
}
