package plan_test

import (
	"strings"
	"testing"

	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

func TestVersionsHaveAnOrder(t *testing.T) {
	t.Parallel()
	ordered := []string{"v0.0.0-9-gabc", "v0.0.0-10-g0", "v0.3.0", "v0.3.0-1-gff+changes",
		"v0.3.0-12-gabc", "v0.3.1", "v0.10.0", "v1.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			order, known := plan.CompareVersions(a, b)
			if !known || order < 0 != (i < j) || order > 0 != (i > j) {
				t.Errorf("%s and %s: %d, %v", a, b, order, known)
			}
		}
	}
	for _, none := range []string{"", "unknown", "cc24897d0a11", "(devel)", "v1.2", "v1.2.3-rc1"} {
		if _, known := plan.CompareVersions(none, "v1.0.0"); known {
			t.Errorf("%q has an order", none)
		}
	}
}

func TestDowngrades(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs, here string
		change     func(*plan.Cluster)
		refused    bool
	}{
		"newer here":    {"v0.3.0", "v0.3.0-1-gabc", nil, false},
		"the same":      {"v0.3.0", "v0.3.0", nil, false},
		"older here":    {"v0.3.0-12-gabc", "v0.3.0-2-gdef", nil, true},
		"without order": {"v0.3.0", "unknown", nil, false},
		"allowed": {"v2.0.0", "v1.0.0", func(c *plan.Cluster) { c.Downgrade = true },
			false},
		"a host that joins": {"v2.0.0", "v1.0.0", func(c *plan.Cluster) { c.Adds = true }, false},
	} {
		cluster := wanted("gpu1")
		cluster.Program = c.here
		if c.change != nil {
			c.change(&cluster)
		}
		all := plan.CheckVersions(cluster, layout.Record{Version: 1, Program: c.runs})
		if (len(all) > 0) != c.refused {
			t.Errorf("%s: %v", name, all)
		}
	}
	w := newWorld("gpu1")
	c := wanted("gpu1")
	c.Program, c.Schema = "v1.0.0", 3
	w.run(t, c)
	if w.record.Program != "v1.0.0" || w.record.Schema != 3 {
		t.Errorf("%+v", w.record)
	}
	c.Adds, c.Program, c.Schema = true, "v2.0.0", 4
	if p := w.plan(c); p.Record.Program != "v1.0.0" || p.Record.Schema != 3 {
		t.Errorf("who joins has changed it: %+v", p.Record)
	}
}

// A store that another schema wrote is refused, but by who joins, which leaves the master alone.
func TestStoresOfOtherSchemas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old    layout.Record
		change func(*plan.Cluster)
		says   string // "": nothing
	}{
		"no cluster yet": {},
		"the same":       {old: layout.Record{Version: 1, Schema: 3}},
		"none":           {old: layout.Record{Version: 1}, says: "a program before 0.1.0"},
		"older":          {old: layout.Record{Version: 1, Schema: 2}, says: "a program before 0.1.0"},
		"newer":          {old: layout.Record{Version: 1, Schema: 4}, says: "a newer program"},
		"newer, to be replaced": {layout.Record{Version: 1, Schema: 4},
			func(c *plan.Cluster) { c.Downgrade = true }, "a newer program"},
		"a host that joins": {layout.Record{Version: 1, Schema: 4},
			func(c *plan.Cluster) { c.Adds = true }, ""},
	} {
		cluster := wanted("gpu1")
		cluster.Schema = 3
		if c.change != nil {
			c.change(&cluster)
		}
		switch all := plan.CheckVersions(cluster, c.old); {
		case len(all) > 1 || (len(all) > 0) != (c.says != ""):
			t.Errorf("%s: %v", name, all)
		case len(all) == 1 && (all[0].Host != "gpu1" || !strings.HasSuffix(all[0].What, c.says)):
			t.Errorf("%s: %v", name, all)
		}
	}
}
