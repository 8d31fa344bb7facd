package main

import (
	"os"
	"path/filepath"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra/plan"
)

// The way out of a host that is away can be typed.
func TestNotUploaded(t *testing.T) {
	t.Parallel()
	s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "config.yml"),
		Flags: map[string]string{"hosts": "gpu1,gpu2,gpu3,gpu4", "master": "1", "workers": "2,3,4",
			"name": "c"}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	err = notUploaded(s, plan.Problems{{Host: "gpu4", What: "no route", Remedy: "switch it on",
		Unreached: true}})
	const want = `nothing was uploaded:
gpu4: no route
    switch it on
  ` + "`infrainit -f -w 2,3` removes gpu4 from the cluster"
	if e, ok := err.(*cli.Error); !ok || e.Code != cli.Unreachable || e.Error() != want {
		t.Errorf("%v", err)
	}
}
