package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/plan"
)

func TestWaysOutOfAHostThatIsAway(t *testing.T) {
	t.Parallel()
	s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "cluster.yml"),
		Flags: map[string]string{"hosts": "gpu1,gpu2,gpu3,gpu4", "master": "1", "workers": "2,3,4",
			"name": "c"}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		problem plan.Problem
		remedy  string
	}{
		"a worker's": {plan.Problem{Host: "gpu4", What: "no route", Unreached: true},
			"nothing was changed; to go on without gpu4, call it again with -w 2,3 (removes it " +
				"from the cluster) or --skip-bad (changes only the other hosts)"},
		"not of the file": {plan.Problem{Host: "gpu9", What: "no route", Unreached: true},
			"nothing was changed; to go on without gpu9, call it again with a -w that leaves it " +
				"out (removes it from the cluster) or --skip-bad (changes only the other hosts)"},
		"the master's": {plan.Problem{Host: "gpu1", What: "no route", Unreached: true},
			"nothing was changed"},
		"one that is bad": {plan.Problem{Host: "gpu4", What: "no Docker"}, "nothing was changed"},
	} {
		err := explain(s, plan.Problems{c.problem})
		if want := c.problem.Host + ": " + c.problem.What + "\n  " + c.remedy; err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for want, changes := range map[string]bool{
		"changed in 6.3s": true, "nothing to change (checked in 6.3s)": false,
	} {
		r := infra.Result{Plan: plan.Plan{Changes: changes}, Took: 6300 * time.Millisecond}
		if got := outcome(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
