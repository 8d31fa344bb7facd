package infra_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/layout"
)

// The other hosts are asked where the master's cannot be reached, and it is looked for again.
func TestStatusWithoutTheMastersHost(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	r := f.request("gpu1", "gpu2")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	f.away["gpu1"] = true
	location := infra.Location{Name: "c", Folder: "ml/c", Master: "gpu1",
		Targets: r.Targets}
	_, err := infra.Open(t.Context(), location, f.options())
	if err == nil {
		t.Fatal("it is reached")
	}
	c := infra.Assume(location, []layout.RecordHost{{Name: "gpu1"}, {Name: "gpu2", Worker: true}},
		err, f.options())
	defer c.Close()
	look := func() map[string]string {
		t.Helper()
		all, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, h := range all {
			got[h.Name] = fmt.Sprint(h.Reached, " ", h.Problem, h.Wanted, len(h.Containers))
		}
		return got
	}
	want := map[string]string{"gpu2": "true [worker] 1",
		"gpu1": "false connect to gpu1: no route to host[broker master monitor] 0"}
	if d := cmp.Diff(want, look()); d != "" || !c.Assumed() {
		t.Error(d)
	}
	f.away["gpu1"] = false
	if d := cmp.Diff(want, look()); d != "" {
		t.Errorf("it was asked again: %s", d)
	}
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	want["gpu1"] = "true [broker master monitor] 3"
	if d := cmp.Diff(want, look()); d != "" || c.Assumed() {
		t.Error(d)
	}
}
