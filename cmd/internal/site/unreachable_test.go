package site_test

import (
	"os"
	"path/filepath"
	"testing"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra/plan"
)

func TestWithoutHostsThatAreAway(t *testing.T) {
	t.Parallel()
	away := func(names ...string) (all plan.Problems) {
		for _, n := range names {
			all = append(all, plan.Problem{Host: n, What: "no answer", Unreached: true})
		}
		return all
	}
	for name, c := range map[string]struct {
		workers     string
		problems    plan.Problems
		stay, hosts string
	}{
		"one":               {"2,3,4", away("gpu4"), "2,3", "gpu4"},
		"two":               {"local,2-4", away("gpu2", "gpu4"), "local,3", "gpu2, gpu4"},
		"one of them is on": {"2,3", append(away("gpu3"), plan.Problem{Host: "gpu2"}), "2", "gpu3"},
		"two faults of one": {"2,3", append(away("gpu3"), away("gpu3")...), "2", "gpu3"},
		"the only worker":   {"4", away("gpu4"), "", "gpu4"},
		"not of the file":   {"2,3", away("gpu9"), "", "gpu9"},
		"the master's host": {"2,3", away("gpu1", "gpu3"), "", ""},
		"none":              {"2,3", plan.Problems{{Host: "gpu3", What: "no Docker"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "cluster.yml"),
				Flags: map[string]string{"hosts": "gpu1,gpu2,gpu3,gpu4", "master": "1",
					"workers": c.workers, "name": "c"}}, os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			if stay, hosts := s.Without(c.problems); stay != c.stay || hosts != c.hosts {
				t.Errorf("%q, %q", stay, hosts)
			}
		})
	}
}
