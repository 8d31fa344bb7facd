package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/config"
	infraplan "mlframework/infra/plan"
)

// With a host that is away, a sweep of edited files is refused with the ways out.
func TestNotUploaded(t *testing.T) {
	t.Parallel()
	s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "config.yml"),
		Flags: map[string]string{"hosts": "gpu1,gpu2,gpu3,gpu4", "master": "1", "workers": "2,3,4",
			"name": "c"}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	const text = `the edited files cannot be uploaded to all hosts: nothing was submitted
HOST: no route
    switch it on`
	const asPushed = "`--as-pushed` runs the files uploaded last"
	for host, remedy := range map[string]string{
		"gpu4": "`infrainit -f -w 2,3` removes gpu4 from the cluster; " + asPushed,
		"gpu9": "infrainit -f with a -w that leaves out gpu9 removes it from the cluster; " +
			asPushed,
		"gpu1": asPushed,
	} {
		err := orAsPushed(notUploaded(s, infraplan.Problems{{Host: host, What: "no route",
			Remedy: "switch it on", Unreached: true}}))
		want := strings.Replace(text, "HOST", host, 1) + "\n  " + remedy
		if e, ok := err.(*cli.Error); !ok || e.Code != cli.Unreachable || e.Error() != want {
			t.Errorf("%s: %v\nwant %s", host, err, want)
		}
	}
	other := errors.New("other")
	if err := orAsPushed(notUploaded(s, other)); err != other {
		t.Error(err)
	}
}
